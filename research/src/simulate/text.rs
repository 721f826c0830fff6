//! The report for people.

use command_parts::output::{Lines, count, table};
use simulator::metrics::{Class, Distribution};

use super::report::Report;

/// The report as text.
pub(super) fn text(report: &Report) -> String {
    let mut lines = Lines::default();
    let counted = &report.counted;
    let policy = if report.policy == "as-submitted" { String::new() } else { format!(", {} in front", report.policy) };
    lines.heading(&format!("{} under {}{policy}", report.log, report.scheduler));
    lines.line(
        "machine",
        format!("{} processors, {:.1} % of their time used", count(u64::from(report.processors)), report.utilisation * 100.0),
    );
    lines.line("makespan", format!("{:.1} days", report.makespan_s as f64 / 86_400.0));
    let left_out = if report.left_out == 0 { String::new() } else { format!("; {} records left out", count(report.left_out as u64)) };
    lines.line("jobs", format!("{} simulated, {}{left_out}", count(counted.jobs_simulated as u64), over(counted.jobs_counted)));
    // A mean has as many digits as other simulators' means are compared by. For a few jobs the
    // digits say nothing.
    let digits = if counted.jobs_counted == 0 { 1 } else { 6 };
    lines.line("mean wait", minutes(counted.mean_wait_s, digits));
    lines.line("mean response", minutes(counted.mean_response_s, digits));
    let slowdown = format!("{:.digits$} (bounded: run times under 10 s count as 10 s)", counted.mean_bounded_slowdown);
    lines.line("mean slowdown", slowdown);
    lines.line("computed in", format!("{:.3} s, reading the log included", report.wall_s));

    lines.heading("All jobs");
    let header = ["", "mean", "median", "p75", "p90", "p95", "p99", "maximum"];
    let mut distributions = table(&header, &header[1..]);
    let all = &report.all;
    let rows: [(&str, &Distribution, f64); 4] = [
        ("wait (min)", &all.wait_s, 60.0),
        ("response (min)", &all.response_s, 60.0),
        ("slowdown", &all.slowdown, 1.0),
        ("bounded slowdown", &all.bounded_slowdown, 1.0),
    ];
    for (name, found, unit) in rows {
        let figures = [found.mean, found.median, found.p75, found.p90, found.p95, found.p99, found.maximum];
        let cells = std::iter::once(name.to_owned()).chain(figures.map(|figure| figure_text(figure / unit)));
        distributions.add_row(cells);
    }
    lines.table(&distributions);
    classes(&mut lines, "By size", "processors", &report.by_size);
    classes(&mut lines, "By user", "users", &report.by_user);
    lines.text()
}

fn classes(lines: &mut Lines, heading: &str, what: &str, classes: &[Class]) {
    lines.heading(heading);
    let header = [what, "jobs", "mean wait (min)", "p95 wait (min)", "mean response (min)", "mean bounded slowdown"];
    let mut rows = table(&header, &header[1..]);
    for class in classes {
        rows.add_row([
            class.name.clone(),
            count(class.jobs as u64),
            figure_text(class.wait_s.mean / 60.0),
            figure_text(class.wait_s.p95 / 60.0),
            figure_text(class.response_s.mean / 60.0),
            figure_text(class.bounded_slowdown.mean),
        ]);
    }
    lines.table(&rows);
}

/// Which jobs the means are over.
fn over(jobs_counted: usize) -> String {
    match jobs_counted {
        0 => "the means are over all of them: none ends between the first hundredth and the last submission".to_owned(),
        counted => format!("{} count for the means", count(counted as u64)),
    }
}

fn minutes(seconds: f64, digits: usize) -> String {
    format!("{:.digits$} min", seconds / 60.0)
}

fn figure_text(figure: f64) -> String {
    if figure >= 1_000.0 { count(figure.round() as u64) } else { format!("{figure:.1}") }
}
