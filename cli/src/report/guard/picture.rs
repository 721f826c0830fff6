//! The picture of the report: how the mean responses change over the weeks, a diagram for each
//! partition and policy.

use std::path::Path;

use anyhow::ensure;
use command_parts::plot::{self, ChangeAt, ChangesOverTime, Series};
use job_types::time::UnixTime;
use simulator::guard::state::Act;

use super::replays::{ChangeRow, PolicyRow, ReplayRow};

/// Draws a diagram for each policy that was replayed, one below the other.
///
/// # Errors
///
/// No replay has figures, or the file can't be written.
pub(super) fn draw(path: &Path, policies: &[PolicyRow], act: Act, now: UnixTime) -> anyhow::Result<()> {
    let diagrams: Vec<ChangesOverTime> = policies.iter().filter_map(|policy| diagram(policy, act, now)).collect();
    ensure!(!diagrams.is_empty(), "--plot: no replay of the guard has figures yet, so there is nothing to draw");
    plot::write_rows(path, 1, &diagrams, |areas, diagram| areas.iter().try_for_each(|area| plot::changes_over_time(area, diagram)))
}

/// The diagram of one policy in one partition; `None` where no replay of it has figures.
fn diagram(policy: &PolicyRow, act: Act, now: UnixTime) -> Option<ChangesOverTime> {
    let line = |name: &str, is_ours: bool, of: fn(&ReplayRow) -> Option<&ChangeRow>| {
        let points = policy.replays.iter().filter_map(|replay| Some(point(replay.at, of(replay)?))).collect::<Vec<_>>();
        (!points.is_empty()).then(|| Series { name: name.to_owned(), points, is_ours })
    };
    let users = line("jobs of those who use it", true, |replay| replay.users.as_ref());
    let others = line("jobs of the others", false, |replay| replay.others.as_ref());
    let series: Vec<Series<ChangeAt>> = users.into_iter().chain(others).collect();
    let first = series.iter().filter_map(|series| series.points.first()).map(|point| point.at).min()?;
    let stood_badly = policy.stood_badly.iter().map(|bad| UnixTime(bad.since).max(first)..bad.until.map_or(now, UnixTime));
    Some(ChangesOverTime {
        title: format!("{}: {}", policy.partition, policy.policy),
        what: "change of the mean response (%)",
        series,
        marked_as: if act == Act::Warn { "warned of" } else { "held back" },
        marked: stood_badly.filter(|bad| bad.start < bad.end).collect(),
    })
}

fn point(at: i64, change: &ChangeRow) -> ChangeAt {
    ChangeAt { at: UnixTime(at), change: 100.0 * change.change, range: [100.0 * change.least, 100.0 * change.greatest] }
}
