//! Real against simulated start times, as SVG.

use end_to_end::comparison::Replay;
use plotters::prelude::{
    BLACK, ChartBuilder, Circle, Color, IntoDrawingArea, LineSeries, RGBColor, SVGBackend, SeriesLabelPosition, WHITE,
};

/// Colours that people who do not tell red from green can tell apart (M. Okabe and K. Ito, "Color
/// Universal Design").
const COLOURS: [(Replay, RGBColor); 3] =
    [(Replay::FirstCome, RGBColor(230, 159, 0)), (Replay::Easy, RGBColor(86, 180, 233)), (Replay::Slurm, BLACK)];

/// A point for each job under each of three schedulers: on the diagonal where it starts when it
/// did. Times are seconds on one clock, and are shown from `first` on.
///
/// # Errors
/// What plotters says.
pub(crate) fn starts(real: &[i64], simulated: &[(Replay, &[i64])], first: i64) -> Result<String, Box<dyn std::error::Error>> {
    let after = |at: i64| (at - first) as f64;
    let all = simulated.iter().flat_map(|(_, starts)| starts.iter()).chain(real);
    let end = all.map(|&at| after(at)).fold(1.0, f64::max) * 1.03;
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (720, 720)).into_drawing_area();
        area.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(&area)
            .caption("When jobs start", ("sans-serif", 20))
            .margin(14)
            .x_label_area_size(48)
            .y_label_area_size(60)
            .build_cartesian_2d(0.0..end, 0.0..end)?;
        chart
            .configure_mesh()
            .light_line_style(WHITE)
            .bold_line_style(RGBColor(225, 225, 225))
            .label_style(("sans-serif", 14))
            .axis_desc_style(("sans-serif", 16))
            .x_label_formatter(&|seconds| format!("{seconds:.0}"))
            .y_label_formatter(&|seconds| format!("{seconds:.0}"))
            .x_desc("start on the cluster, s after the first submission")
            .y_desc("simulated start, s after the first submission")
            .draw()?;
        chart.draw_series(LineSeries::new([(0.0, 0.0), (end, end)], RGBColor(120, 120, 120)))?;
        for (which, colour) in COLOURS {
            let Some((_, starts)) = simulated.iter().find(|(other, _)| *other == which) else { continue };
            let points = real.iter().zip(starts.iter()).map(|(&real, &simulated)| (after(real), after(simulated)));
            chart
                .draw_series(points.map(|point| Circle::new(point, 3, colour.mix(0.8).filled())))?
                .label(which.name())
                .legend(move |(x, y)| Circle::new((x + 10, y), 4, colour.filled()));
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperLeft)
            .background_style(WHITE.mix(0.85))
            .border_style(BLACK.mix(0.3))
            .label_font(("sans-serif", 14))
            .draw()?;
        area.present()?;
    }
    Ok(svg)
}
