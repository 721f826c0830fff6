//! The report for people.

use comfy_table::Table;
use command_parts::output::{BAD, GOOD, Lines, count, moment, moment_and_distance, table};
use job_types::time::{Seconds, UnixTime};
use simulator::assessment::verdict::{percent, signed_percent};
use simulator::guard::state::Finding;

use super::Report;
use super::replays::{ChangeRow, PolicyRow};

/// The report for people.
pub(super) fn text(report: &Report) -> String {
    let mut lines = Lines::default();
    lines.line("guard", &report.verdict);
    if let Some(last_try) = &report.last_try {
        let (window, interval) = (Seconds(report.window_s), Seconds(report.interval_s));
        let at = moment_and_distance(last_try.at, report.now);
        lines.line("replayed", format!("{at}: {} jobs of the last {window}; every {interval}", count(last_try.jobs)));
        if !last_try.postponed.is_empty() {
            let postponed: Vec<String> = last_try.postponed.iter().map(ToString::to_string).collect();
            lines.line("no time for", format!("{}: first in the next replay", postponed.join(", ")));
        }
        if let Some(failure) = &last_try.failure {
            lines.line("", format!("{BAD}without an answer{BAD:#}, so that nothing was changed by it: {failure}"));
            let success = report.last_success_at.map_or_else(|| "never".to_owned(), |at| moment_and_distance(UnixTime(at), report.now));
            lines.line("last answer", success);
        }
    }
    if report.policies.is_empty() {
        return lines.text();
    }
    lines.heading("How each policy stands");
    lines.table(&standings(&report.policies, report.now));
    if report.policies.iter().any(|policy| !policy.replays.is_empty()) {
        lines.heading("Replays: change of the time from submission to end with the policy");
        lines.table(&replays(&report.policies));
        lines.plain(
            "95 %: change of the time within which 95 % of the jobs end; between: least and greatest change of the mean in any draw",
        );
    }
    if !report.not_known.is_empty() {
        lines.heading("What the replays do not know");
        for item in &report.not_known {
            lines.plain(format!("{}: {}", item.about, item.why));
        }
    }
    lines.text()
}

/// How a policy stands, in a word or two.
fn stands(policy: &PolicyRow) -> String {
    match (policy.held_back, policy.is_bad) {
        (true, _) => format!("{BAD}held back{BAD:#}"),
        (false, true) => format!("{BAD}warned of{BAD:#}"),
        (false, false) => format!("{GOOD}stands{GOOD:#}"),
    }
}

fn standings(policies: &[PolicyRow], now: UnixTime) -> Table {
    let mut standings = table(&["partition", "policy", "", "since", "why"], &[]);
    for policy in policies {
        let since = moment_and_distance(UnixTime(policy.since), now);
        standings.add_row([policy.partition.clone(), policy.policy.to_owned(), stands(policy), since, policy.why.clone()]);
    }
    standings
}

/// A row for each replay, those of a policy with the latest first.
fn replays(policies: &[PolicyRow]) -> Table {
    let header = [
        "partition",
        "policy",
        "replayed",
        "jobs",
        "days",
        "used by",
        "who use it",
        "95 %",
        "between",
        "the others",
        "95 %",
        "between",
        "found",
    ];
    let mut replays = table(&header, &["jobs", "days", "used by", "who use it", "95 %", "the others"]);
    for policy in policies {
        for replay in policy.replays.iter().rev() {
            let place = [policy.partition.clone(), policy.policy.to_owned(), moment(UnixTime(replay.at))];
            let size = [count(replay.jobs), format!("{:.1}", replay.days), percent(replay.adoption)];
            let changes = change(replay.users.as_ref()).into_iter().chain(change(replay.others.as_ref()));
            replays.add_row(place.into_iter().chain(size).chain(changes).chain([found(replay.finding).to_owned()]));
        }
    }
    replays
}

/// The mean change, that of the 95th percentile, and the range over the draws.
fn change(change: Option<&ChangeRow>) -> [String; 3] {
    let Some(change) = change else { return std::array::from_fn(|_| "-".to_owned()) };
    let range = format!("{} to {}", signed_percent(change.least).trim_end_matches(" %"), signed_percent(change.greatest));
    [signed_percent(change.change), signed_percent(change.p95_change), range]
}

/// What a replay says, in a word or two.
fn found(finding: Finding) -> &'static str {
    match finding {
        Finding::Pays => "pays",
        Finding::NoGain => "no gain",
        Finding::Harms => "harms others",
        Finding::CannotBeSaid => "can't be said",
    }
}
