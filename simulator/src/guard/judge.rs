//! Judges a policy by a replay of one partition's last weeks with it and without.

use job_types::policy::Policy;
use job_types::text::count;
use job_types::time::UnixTime;

use super::state::{Change, Draw, Finding, GuardedPolicy, Replay};
use crate::assessment::verdict::{FEWEST_JOBS, LEAST_GAIN, LEAST_GAIN_TIME, MOST_PRICE, percent, signed_percent, time};
use crate::assessment::{Most, ReplayedPast, SiteScheduler};
use crate::engine::Job;
use crate::experiment::{self, Ablations, Comparison, ExperimentError, JITTER, Method, RequestedFeatures, ResponseChange, compare_under};
use crate::swf::{Log, Record};

/// The fewest days that must lie between the first and the last submission: a shorter past has not
/// seen a whole week.
pub const FEWEST_DAYS: f64 = 7.0;

/// How many days are replayed where the usual number of jobs was submitted within fewer. It is some
/// hours more than the fewest, so that a gap between two jobs at the border makes it no less.
const DAYS_OF_MANY: f64 = FEWEST_DAYS + 0.5;

/// The 95th percentile of the others must not rise by more than this part in every draw. It rests
/// on one job in twenty, and so moves more than the mean does.
pub const MOST_PRICE_P95: f64 = LEAST_GAIN;

/// How often each question is asked, with other curves of speed-up, other users who use it, and
/// other moments of submission.
const DRAWS: u64 = 3;

/// What is asked of a past.
#[derive(Debug, Clone)]
pub struct Question<'a> {
    /// The policy.
    pub policy: GuardedPolicy,
    /// The part of the jobs that use it, 0 to 1.
    pub adoption: f64,
    /// Whether it is done to jobs whose users asked for nothing, and so to sizes that they ran.
    pub is_unasked: bool,
    /// CPUs of the partition.
    pub processors: u32,
    /// What the site wants of a change: what it has to gain, and what it may do to others.
    pub site: Policy,
    /// The site's own scheduler.
    pub scheduler: &'a SiteScheduler,
    /// Now.
    pub at: UnixTime,
}

/// The most jobs of a partition that are replayed, and so the most that it may have in a week for
/// anything to be said: a replay of a million model jobs' last 30,000 took 1.7 ms of a processor
/// for each with molding, and one with deferral takes several times that.
const fn most_jobs(policy: GuardedPolicy) -> usize {
    match policy {
        GuardedPolicy::Molding => 250_000,
        GuardedPolicy::Deferral => 80_000,
    }
}

/// The time of a processor that a replay of the log of one partition is expected to take, in
/// milliseconds.
#[must_use]
pub fn expected_cost_ms(log: &Log, policy: GuardedPolicy) -> u64 {
    let per_job_ms = match policy {
        GuardedPolicy::Molding => 2,
        GuardedPolicy::Deferral => 6,
    };
    let submitted = |record: &Record| i64::try_from(record.submit_time_seconds?).ok();
    let mut submitted: Vec<i64> = log.records.iter().filter_map(submitted).collect();
    submitted.sort_unstable();
    to_replay(&submitted, policy) as u64 * per_job_ms
}

/// How many of the last jobs are replayed, by the moments in seconds at which they were submitted,
/// in order: as many as an assessment takes, or those of a week and some hours, if these are more.
fn to_replay(submitted: &[i64], policy: GuardedPolicy) -> usize {
    let since = submitted.last().map_or(0, |last| last - (DAYS_OF_MANY * 86_400.0) as i64);
    let in_a_week = submitted.len() - submitted.partition_point(|submit| *submit < since);
    Most::default().molding_jobs.max(in_a_week).min(most_jobs(policy)).min(submitted.len())
}

/// Replays the log of one partition. Of jobs that can't be replayed on a machine of that size
/// nothing can be said.
#[must_use]
pub fn judge(log: &Log, question: &Question<'_>) -> Replay {
    let past = ReplayedPast::of(log, question.processors.max(1));
    let submitted: Vec<i64> = past.jobs.iter().map(|job| job.submit.0).collect();
    let (jobs, _) = past.last(to_replay(&submitted, question.policy));
    let began = log.header.unix_start_time().unwrap_or_default();
    let moment = |submit: UnixTime| UnixTime(began.saturating_add(submit.0));
    let span = jobs.first().zip(jobs.last());
    let days = span.map_or(0.0, |(first, last)| (last.submit - first.submit).0 as f64 / 86_400.0);
    let mut replay = Replay {
        at: question.at,
        first: span.map(|(first, _)| moment(first.submit)),
        last: span.map(|(_, last)| moment(last.submit)),
        days,
        jobs: jobs.len() as u64,
        adoption: question.adoption,
        finding: Finding::CannotBeSaid,
        why: String::new(),
        draws: Vec::new(),
    };
    if let Some(why) = too_little(&replay) {
        replay.why = why;
        return replay;
    }
    match draws(&past, jobs, question) {
        Ok(draws) => {
            (replay.finding, replay.why) = found(&draws);
            replay.draws = draws;
        }
        Err(error) => replay.why = format!("its jobs can't be replayed: {error}"),
    }
    replay
}

/// Replays the jobs with the policy and without, once for each draw.
fn draws(past: &ReplayedPast, jobs: &[Job], question: &Question<'_>) -> Result<Vec<Draw>, ExperimentError> {
    let features = RequestedFeatures {
        molding: question.policy == GuardedPolicy::Molding,
        deferral: question.policy == GuardedPolicy::Deferral,
        ..RequestedFeatures::default()
    };
    let parts = Ablations { any_size: !question.is_unasked, site: question.site, ..Ablations::default() };
    let scheduler = |jobs: &[Job]| question.scheduler.scheduler(jobs, past.processors);
    let each = |seed| {
        let options = experiment::Options {
            method: Method::Default(features),
            adoption: question.adoption,
            from: jobs.len() / 3 + 1,
            to: jobs.len(),
            parts,
            jitter: JITTER,
            seed,
            ..experiment::Options::default()
        };
        let compared = compare_under(&scheduler, jobs, past.processors, &options, &|_, _| ())?;
        Ok(draw(seed, question.policy, &compared))
    };
    (1..=DRAWS).map(each).collect()
}

/// Why nothing can be said of so short a past, or of so few users.
fn too_little(replay: &Replay) -> Option<String> {
    if (replay.jobs as usize) < FEWEST_JOBS {
        Some(format!("{} jobs ran; {} are the least that anything is said from", count(replay.jobs as usize), count(FEWEST_JOBS)))
    } else if replay.days < FEWEST_DAYS {
        Some(format!("its jobs were submitted within {:.1} days; {FEWEST_DAYS:.0} are the least that anything is said from", replay.days))
    } else if replay.adoption <= 0.0 {
        Some("no job has used it".to_owned())
    } else {
        None
    }
}

fn draw(seed: u64, policy: GuardedPolicy, compared: &Comparison) -> Draw {
    let changed = match policy {
        GuardedPolicy::Molding => compared.changed.smaller + compared.changed.larger,
        GuardedPolicy::Deferral => compared.changed.deferred,
    };
    let of = |change: &ResponseChange| Change {
        jobs: change.jobs as u64,
        mean_without_s: change.baseline_response_s,
        mean_with_s: change.response_s,
        p95_without_s: change.baseline_p95_response_s,
        p95_with_s: change.p95_response_s,
    };
    let all = Change {
        jobs: (compared.adopters.jobs + compared.others.jobs) as u64,
        mean_without_s: compared.baseline.mean_response_s,
        mean_with_s: compared.ours.mean_response_s,
        p95_without_s: compared.baseline.p95_response_s,
        p95_with_s: compared.ours.p95_response_s,
    };
    Draw { seed, changed: changed as u64, all, users: of(&compared.adopters), others: of(&compared.others) }
}

/// The least and the greatest of some changes.
fn range(changes: impl Iterator<Item = f64>) -> (f64, f64) {
    changes.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), change| (least.min(change), most.max(change)))
}

/// What the draws say, and why. Only what all of them say counts: where one does not, it may be
/// chance.
fn found(draws: &[Draw]) -> (Finding, String) {
    if draws.iter().all(|draw| draw.changed == 0) {
        return (Finding::CannotBeSaid, "it would have changed no job".to_owned());
    }
    if draws.iter().any(|draw| draw.users.jobs == 0) {
        return (Finding::CannotBeSaid, "too few jobs use it".to_owned());
    }
    let span = |(least, most): (f64, f64)| format!("{} to {}", signed_percent(least), signed_percent(most));
    if draws.iter().all(|draw| draw.others.jobs > 0) {
        let mean = range(draws.iter().map(|draw| draw.others.mean()));
        let p95 = range(draws.iter().map(|draw| draw.others.p95()));
        let harmed = [("mean", mean, MOST_PRICE), ("95th percentile of the", p95, MOST_PRICE_P95)];
        if let Some((what, changes, most)) = harmed.into_iter().find(|(_, (least, _), most)| least > most) {
            let why = format!(
                "the {what} time to a result of those who don't use it changes by {}, over {} in every draw",
                span(changes),
                percent(most)
            );
            return (Finding::Harms, why);
        }
    }
    let users = range(draws.iter().map(|draw| draw.users.mean()));
    let gained = draws.iter().map(|draw| draw.users.mean_without_s - draw.users.mean_with_s).sum::<f64>() / draws.len().max(1) as f64;
    let figures = format!("the mean time to a result of those who use it changes by {} ({} s gained)", span(users), gained.round());
    if users.1 <= -LEAST_GAIN && gained >= LEAST_GAIN_TIME.0 as f64 {
        return (Finding::Pays, format!("{figures}, and nobody pays for it"));
    }
    let least = time(LEAST_GAIN_TIME.0 as f64);
    (Finding::NoGain, format!("{figures}; {} in every draw and {least} in the mean are the least that pays", percent(LEAST_GAIN)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lublin;
    use job_types::policy::Others;

    fn change(jobs: u64, mean: f64, p95: f64) -> Change {
        Change { jobs, mean_without_s: 10_000.0, mean_with_s: 10_000.0 * (1.0 + mean), p95_without_s: 1e5, p95_with_s: 1e5 * (1.0 + p95) }
    }

    /// Draws in which users and others change so.
    fn draws(users: [f64; 3], others: [(f64, f64); 3]) -> Vec<Draw> {
        let draw = |(users, (mean, p95)): (f64, (f64, f64))| Draw {
            seed: 1,
            changed: 10,
            all: change(200, users, 0.0),
            users: change(100, users, 0.0),
            others: change(100, mean, p95),
        };
        users.into_iter().zip(others).map(draw).collect()
    }

    /// The replays of 3,000 made-up jobs, of which half may be changed.
    fn judged(policy: GuardedPolicy, site: Policy) -> Replay {
        let log = lublin::workload(&lublin::Options { jobs: 3_000, processors: 64, users: 8, ..lublin::Options::default() }).unwrap();
        let question = Question {
            policy,
            adoption: 0.5,
            is_unasked: false,
            processors: 64,
            site,
            scheduler: &SiteScheduler::default(),
            at: UnixTime(0),
        };
        judge(&log, &question)
    }

    fn changed(replay: &Replay) -> u64 {
        replay.draws.iter().map(|draw| draw.changed).sum()
    }

    #[test]
    fn a_week_is_replayed_where_the_usual_number_of_jobs_was_submitted_within_less() {
        let (molding, deferral) = (GuardedPolicy::Molding, GuardedPolicy::Deferral);
        let spread = |jobs: i64, days: i64| (0..jobs).map(|n| n * days * 86_400 / jobs).collect::<Vec<i64>>();
        // 1,000 a day: 30,000 are 30 days.
        assert_eq!(to_replay(&spread(60_000, 60), molding), 30_000);
        // 10,000 a day: a week and a half day.
        let busy = spread(280_000, 28);
        assert!((75_000..75_020).contains(&to_replay(&busy, molding)), "{}", to_replay(&busy, molding));
        let days = (busy[busy.len() - 1] - busy[busy.len() - to_replay(&busy, deferral)]) as f64 / 86_400.0;
        assert!(days >= FEWEST_DAYS, "{days}");
        // 40,000 a day are more than there is time for.
        let busiest = spread(1_120_000, 28);
        assert_eq!([molding, deferral].map(|policy| to_replay(&busiest, policy)), [250_000, 80_000]);
        assert_eq!([to_replay(&spread(900, 7), molding), to_replay(&[], molding)], [900, 0]);
    }

    #[test]
    fn what_the_site_weighs_is_weighed_in_the_replays() {
        let changed = |others| changed(&judged(GuardedPolicy::Molding, Policy { others, ..Policy::default() }));
        let (ignored, weighed) = (changed(Others::Ignore), changed(Others::NotWorse));
        assert!(0 < weighed && weighed < ignored, "{ignored} changes without, {weighed} with what others wait for");
    }

    #[test]
    fn a_deferral_gains_in_the_replays_what_the_site_wants_of_it() {
        let deferred = |defer_threshold| changed(&judged(GuardedPolicy::Deferral, Policy { defer_threshold, ..Policy::default() }));
        let (most, least) = (deferred(0.0), deferred(0.9));
        assert!(least < most, "{most} jobs are deferred where any gain is enough, {least} where nearly all of a response is wanted");
    }

    #[test]
    fn each_draw_has_a_path_of_its_own_without_the_policy() {
        let replay = judged(GuardedPolicy::Molding, Policy::default());
        let means: Vec<f64> = replay.draws.iter().map(|draw| draw.all.mean_without_s).collect();
        assert!(means.len() == DRAWS as usize && means.windows(2).all(|pair| pair[0] != pair[1]), "{means:?} {}", replay.why);
    }

    #[test]
    fn others_are_harmed_only_where_every_draw_says_so() {
        let pays = [-0.1; 3];
        assert_eq!(found(&draws(pays, [(0.02, 0.0); 3])).0, Finding::Harms);
        assert_eq!(found(&draws(pays, [(0.02, 0.0), (0.03, 0.0), (0.005, 0.0)])).0, Finding::Pays);
        assert_eq!(found(&draws(pays, [(0.0, 0.06); 3])).0, Finding::Harms);
        assert_eq!(found(&draws(pays, [(0.0, 0.06), (0.0, 0.01), (0.0, 0.06)])).0, Finding::Pays);
    }

    #[test]
    fn what_users_gain_has_to_be_noticed_in_every_draw() {
        let none = [(0.0, 0.0); 3];
        assert_eq!(found(&draws([-0.06, -0.07, -0.05], none)).0, Finding::Pays);
        assert_eq!(found(&draws([-0.06, -0.07, -0.04], none)).0, Finding::NoGain);
        assert_eq!(found(&draws([0.1, 0.2, 0.3], none)).0, Finding::NoGain);
        let mut short = draws([-0.06; 3], none);
        short.iter_mut().for_each(|draw| (draw.users.mean_without_s, draw.users.mean_with_s) = (100.0, 80.0));
        assert_eq!(found(&short).0, Finding::NoGain, "20 s are not noticed");
    }

    #[test]
    fn where_all_use_it_there_is_nobody_else_to_be_harmed() {
        let mut all = draws([-0.1; 3], [(0.5, 0.5); 3]);
        all.iter_mut().for_each(|draw| draw.others = Change::default());
        assert_eq!(found(&all).0, Finding::Pays);
    }

    #[test]
    fn where_no_job_is_changed_nothing_is_said() {
        let mut unchanged = draws([0.0; 3], [(0.0, 0.0); 3]);
        unchanged.iter_mut().for_each(|draw| draw.changed = 0);
        assert_eq!(found(&unchanged).0, Finding::CannotBeSaid);
    }
}
