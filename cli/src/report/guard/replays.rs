//! The policies that the guard judges and its replays, as the report shows them.

use serde::Serialize;
use simulator::guard::state::{Change, Draw, Finding, PolicyStanding, Replay, Standing};

/// A policy in a partition, with how it stands and the replays that decided it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct PolicyRow {
    pub(super) partition: String,
    /// The policy by its name: molding or deferral.
    pub(super) policy: &'static str,
    /// Whether it stands badly: it was found not to pay, or to harm others.
    pub(super) is_bad: bool,
    /// Whether submissions are therefore decided about as in `observe`.
    pub(super) held_back: bool,
    /// Since when it stands so.
    pub(super) since: i64,
    /// Why it stands so, in one sentence.
    pub(super) why: String,
    /// How many replays in a row have said what would change the standing.
    pub(super) in_a_row: u32,
    /// The times at which it stood badly, as far back as replays are kept, the latest last.
    pub(super) stood_badly: Vec<BadTime>,
    /// The replays, the latest last.
    pub(super) replays: Vec<ReplayRow>,
}

/// A time at which a policy stood badly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) struct BadTime {
    pub(super) since: i64,
    /// `None` where it still does.
    pub(super) until: Option<i64>,
}

/// One replay of a partition's last weeks with a policy and without it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct ReplayRow {
    /// When it was made.
    pub(super) at: i64,
    pub(super) first_at: Option<i64>,
    pub(super) last_at: Option<i64>,
    /// The days between the first submission and the last.
    pub(super) days: f64,
    pub(super) jobs: u64,
    /// The part of the jobs that use the policy, 0 to 1.
    pub(super) adoption: f64,
    /// What the replay says.
    pub(super) finding: Finding,
    /// The same in one sentence.
    pub(super) why: String,
    /// How many draws there were.
    pub(super) draws: usize,
    /// The jobs of those who use it; `None` where there are none.
    pub(super) users: Option<ChangeRow>,
    /// The jobs of the others.
    pub(super) others: Option<ChangeRow>,
}

/// Times from submission to end without a policy and with it, and by which parts they change: below
/// 0 they are shorter. Means over the draws, but for the range.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct ChangeRow {
    /// Jobs of a draw, in the mean.
    pub(super) jobs: f64,
    pub(super) mean_without_s: f64,
    pub(super) mean_with_s: f64,
    /// The change of the mean.
    pub(super) change: f64,
    /// The least change of the mean of any draw.
    pub(super) least: f64,
    /// The greatest.
    pub(super) greatest: f64,
    pub(super) p95_without_s: f64,
    pub(super) p95_with_s: f64,
    /// The change of the 95th percentile.
    pub(super) p95_change: f64,
}

impl PolicyRow {
    /// The row of a policy that the guard has judged.
    pub(super) fn of(standing: &PolicyStanding, held_back: bool) -> Self {
        Self {
            partition: standing.partition.clone(),
            policy: standing.policy.name(),
            is_bad: standing.standing == Standing::Bad,
            held_back,
            since: standing.since.0,
            why: standing.why.clone(),
            in_a_row: standing.in_a_row,
            stood_badly: BadTime::of(standing),
            replays: standing.replays.iter().map(ReplayRow::of).collect(),
        }
    }
}

impl BadTime {
    /// Finds the times by judging the kept replays once more. Of each day only the last is kept:
    /// where they lead to another standing than there is, only that one is certain.
    fn of(standing: &PolicyStanding) -> Vec<Self> {
        let mut walked = PolicyStanding { standing: Standing::Good, in_a_row: 0, replays: Vec::new(), ..standing.clone() };
        let mut times: Vec<Self> = Vec::new();
        for replay in &standing.replays {
            match (walked.judged(replay.clone()), walked.standing) {
                (true, Standing::Bad) => times.push(Self { since: replay.at.0, until: None }),
                (true, Standing::Good) => times.iter_mut().rev().take(1).for_each(|time| time.until = Some(replay.at.0)),
                (false, _) => {}
            }
        }
        let is_bad = standing.standing == Standing::Bad;
        let last = Self { since: standing.since.0, until: None };
        if walked.standing == standing.standing && (!is_bad || times.last() == Some(&last)) {
            return times;
        }
        is_bad.then_some(last).into_iter().collect()
    }
}

impl ReplayRow {
    fn of(replay: &Replay) -> Self {
        Self {
            at: replay.at.0,
            first_at: replay.first.map(|at| at.0),
            last_at: replay.last.map(|at| at.0),
            days: replay.days,
            jobs: replay.jobs,
            adoption: replay.adoption,
            finding: replay.finding,
            why: replay.why.clone(),
            draws: replay.draws.len(),
            users: ChangeRow::over(&replay.draws, |draw| draw.users),
            others: ChangeRow::over(&replay.draws, |draw| draw.others),
        }
    }
}

impl ChangeRow {
    /// Sums up what the draws say of some of the jobs; `None` where no draw has such jobs.
    fn over(draws: &[Draw], of: fn(&Draw) -> Change) -> Option<Self> {
        let changes: Vec<Change> = draws.iter().map(of).filter(|change| change.jobs > 0).collect();
        if changes.is_empty() {
            return None;
        }
        let mean = |figure: fn(&Change) -> f64| changes.iter().map(figure).sum::<f64>() / changes.len() as f64;
        let means = || changes.iter().map(Change::mean);
        Some(Self {
            jobs: mean(|change| change.jobs as f64),
            mean_without_s: mean(|change| change.mean_without_s),
            mean_with_s: mean(|change| change.mean_with_s),
            change: mean(Change::mean),
            least: means().fold(f64::INFINITY, f64::min),
            greatest: means().fold(f64::NEG_INFINITY, f64::max),
            p95_without_s: mean(|change| change.p95_without_s),
            p95_with_s: mean(|change| change.p95_with_s),
            p95_change: mean(Change::p95),
        })
    }
}
