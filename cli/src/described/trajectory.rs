//! The probability trajectory of a reservation, for people.

use command_parts::output::{Lines, moment_and_distance, sparkline};
use forecast_report::{PointReport, TrajectoryReport};
use job_types::time::{Seconds, UnixTime};

/// The trajectory as a row of columns, with a mark under the point that was chosen, of which
/// the begin and the time limit are given.
pub(crate) fn text(
    trajectory: &TrajectoryReport,
    lines: &mut Lines,
    reserved: UnixTime,
    chosen: Option<(UnixTime, Option<Seconds>)>,
    now: UnixTime,
) {
    lines.heading("Probability of having the nodes at the reserved time, by when the job becomes eligible");
    let points = &trajectory.points;
    let picture = sparkline(points.iter().map(|point| point.probability));
    lines.plain(format!("▕{picture}▏"));
    if let Some((begin, limit)) = chosen
        && let Some(at) = points.iter().rposition(|point| point.begin <= begin.0)
    {
        let limit = limit.map(|limit| format!(" with a time limit of {limit}")).unwrap_or_default();
        lines.plain(format!(" {}▲ {}{limit}", " ".repeat(at), moment_and_distance(begin, now)));
    }
    let probability = |point: Option<&PointReport>| point.map_or(0.0, |point| point.probability);
    let (first, last) = (probability(points.first()), probability(points.last()));
    // If the limit would be padded beyond the longest of the partition, the trajectory begins
    // later.
    let earliest = points.first().map(|point| UnixTime(point.begin)).filter(|begin| *begin > now);
    let earliest = earliest.map_or("now".to_owned(), |begin| moment_and_distance(begin, now));
    lines.plain(format!(" from {earliest} ({first:.2}) to {} ({last:.2})", moment_and_distance(reserved, now)));
}
