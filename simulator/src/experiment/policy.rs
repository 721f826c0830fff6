//! The policy of a replay: which of a log's jobs a decider may change, and how long a changed job
//! then runs.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use job_types::job::Ending;
use job_types::number::UserId;
use job_types::time::{Seconds, UnixTime};
use predictor_core::decisions::limit_at;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

use super::SpeedUp;
use super::priced_time::Agreement;
use crate::engine::{Cluster, Job, JobIndex, Policy, Record, Revised, Submitted};

/// Decides about jobs. It never sees the run time of a job that has not ended, or how that will
/// end: the jobs that it is shown have a run time of 0, and come to their own end.
pub trait Decider {
    /// Decides about a job that is submitted now. The run time of what it returns does not count.
    fn decide(&mut self, index: JobIndex, asked: &Job, cluster: &Cluster) -> Submitted;

    /// A job is passed on, changed or not.
    fn passed(&mut self, index: JobIndex, asked: &Job, submitted: &Submitted, cluster: &Cluster);

    /// A job has started.
    fn started(&mut self, index: JobIndex, job: &Job, record: &Record);

    /// A job has ended.
    fn ended(&mut self, index: JobIndex, job: &Job, record: &Record);

    /// A job that has not started was taken back, and never runs.
    fn withdrawn(&mut self, _index: JobIndex) {}

    /// When it wants to change jobs that were submitted before ([`Policy::wakes_at`]).
    fn wakes_at(&self) -> Option<UnixTime> {
        None
    }

    /// Changes them ([`Policy::revise`]).
    fn revise(&mut self, _cluster: &Cluster) -> Vec<Revised> {
        Vec::new()
    }

    /// How often the price of the machine's time and whole plans allowed the same; `None` where no
    /// price was asked for.
    fn agreement(&self) -> Option<Agreement> {
        None
    }
}

impl<D: Decider + ?Sized> Decider for Box<D> {
    fn decide(&mut self, index: JobIndex, asked: &Job, cluster: &Cluster) -> Submitted {
        (**self).decide(index, asked, cluster)
    }

    fn passed(&mut self, index: JobIndex, asked: &Job, submitted: &Submitted, cluster: &Cluster) {
        (**self).passed(index, asked, submitted, cluster);
    }

    fn started(&mut self, index: JobIndex, job: &Job, record: &Record) {
        (**self).started(index, job, record);
    }

    fn ended(&mut self, index: JobIndex, job: &Job, record: &Record) {
        (**self).ended(index, job, record);
    }

    fn withdrawn(&mut self, index: JobIndex) {
        (**self).withdrawn(index);
    }

    fn wakes_at(&self) -> Option<UnixTime> {
        (**self).wakes_at()
    }

    fn revise(&mut self, cluster: &Cluster) -> Vec<Revised> {
        (**self).revise(cluster)
    }

    fn agreement(&self) -> Option<Agreement> {
        (**self).agreement()
    }
}

/// How long a job runs at another size.
#[derive(Debug)]
pub enum MoldedRunTimes {
    /// The run time that the same computation takes at the new size, by the curve of each job.
    Computation(Vec<SpeedUp>),
    /// The run time of one of the user's own runs at that size: see [`OwnRuns`].
    OwnRuns(Box<OwnRuns>),
}

/// The roulette wheel of Hariharan et al. 2020 (VI.C): the runs of the same user at that size that
/// have ended, each with a slot of the same width. Runs of jobs that were molded themselves are not
/// on it.
#[derive(Debug)]
pub struct OwnRuns {
    runs: HashMap<(UserId, u32), Vec<Seconds>>,
    random: ChaCha8Rng,
}

impl OwnRuns {
    /// Creates a store without any runs.
    #[must_use]
    pub fn new(random: ChaCha8Rng) -> Self {
        Self { runs: HashMap::new(), random }
    }

    fn ended(&mut self, user: UserId, processors: u32, run_time: Seconds) {
        self.runs.entry((user, processors)).or_default().push(run_time);
    }

    /// Draws the run time of one of the user's runs of that size. If the user has none, the run
    /// time of the job grows in proportion on fewer processors and stays the same on more.
    fn draw(&mut self, job: &Job, processors: u32) -> Seconds {
        let drawn = self.runs.get(&(job.user, processors)).and_then(|runs| runs.choose(&mut self.random));
        drawn.copied().unwrap_or_else(|| limit_at(job.run_time, job.processors, processors))
    }
}

/// What was done to the jobs, counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Changed {
    /// Jobs that got fewer processors.
    pub smaller: usize,
    /// Jobs that got more.
    pub larger: usize,
    /// Jobs that were held back.
    pub deferred: usize,
    /// Jobs at another size that their time limit ended before they were done.
    pub cut_by_limit: usize,
}

/// The engine's policy in an experiment: lets a decider change jobs, and gives changed jobs their
/// run times.
pub struct ExperimentPolicy<D> {
    decider: D,
    molded_run_times: MoldedRunTimes,
    window: Range<JobIndex>,
    adopts: Vec<bool>,
    /// What is shown in the place of time limits, where the log has none.
    instead_of_limits: Option<Seconds>,
    changed: Changed,
    is_molded: Vec<bool>,
    /// The jobs at another size that their time limit ends before they are done.
    cut_by_limit: BTreeSet<JobIndex>,
}

impl<D: Decider> ExperimentPolicy<D> {
    /// The jobs in `window` of which `adopts` says so are decided about.
    ///
    /// In a log without time limits the scheduler is told how long each job runs, as by the rules
    /// of [`Rules`](crate::workload::Rules). The decider is not: all that it is shown is
    /// `instead_of_limits`.
    pub fn new(
        decider: D,
        molded_run_times: MoldedRunTimes,
        window: Range<JobIndex>,
        adopts: Vec<bool>,
        instead_of_limits: Option<Seconds>,
    ) -> Self {
        let is_molded = vec![false; adopts.len()];
        let (changed, cut_by_limit) = (Changed::default(), BTreeSet::new());
        Self { decider, molded_run_times, window, adopts, instead_of_limits, changed, is_molded, cut_by_limit }
    }

    /// What was done so far.
    pub fn changed(&self) -> Changed {
        self.changed
    }

    /// The decider, which may have kept something to be held against what happened.
    pub fn decider(&self) -> &D {
        &self.decider
    }

    /// The decider.
    #[cfg(test)]
    pub(super) fn into_decider(self) -> D {
        self.decider
    }

    /// Returns whether each job got another size.
    pub fn is_molded(&self) -> &[bool] {
        &self.is_molded
    }

    /// How a job ends: as the log says, or by its time limit at another size.
    pub fn ending(&self, index: JobIndex, job: &Job) -> Ending {
        if self.cut_by_limit.contains(&index) { Ending::TimedOut } else { job.ending }
    }

    /// The job as the decider sees it before it has ended.
    fn shown(&self, job: &Job) -> Job {
        let estimate = self.instead_of_limits.unwrap_or(job.estimate);
        Job { run_time: Seconds::ZERO, estimate, ending: Ending::default(), ..*job }
    }

    /// How long the job runs as it was changed.
    fn run_time(&mut self, index: JobIndex, written: &Job, changed: &Job) -> Seconds {
        let (from, to) = (written.processors, changed.processors);
        if from == to {
            return written.run_time;
        }
        let run = match &mut self.molded_run_times {
            MoldedRunTimes::Computation(curves) => {
                curves.get(index as usize).map_or(written.run_time, |curve| curve.run_time(written.run_time, from, to))
            }
            MoldedRunTimes::OwnRuns(runs) => runs.draw(written, to),
        };
        if to < from {
            self.changed.smaller += 1;
        } else {
            self.changed.larger += 1;
        }
        if let Some(is_molded) = self.is_molded.get_mut(index as usize) {
            *is_molded = true;
        }
        if self.instead_of_limits.is_some() {
            return run;
        }
        if run > changed.estimate {
            self.changed.cut_by_limit += 1;
            self.cut_by_limit.insert(index);
        }
        run.min(changed.estimate)
    }
}

impl<D: Decider> Policy for ExperimentPolicy<D> {
    fn submit(&mut self, index: JobIndex, job: &Job, cluster: &Cluster) -> Submitted {
        let asked = self.shown(job);
        let may = self.window.contains(&index) && self.adopts.get(index as usize) == Some(&true);
        let mut submitted = Submitted { job: asked, eligible: cluster.now(), hold_until: None };
        if may {
            submitted = self.decider.decide(index, &asked, cluster);
            self.changed.deferred += usize::from(submitted.eligible > cluster.now());
        }
        self.decider.passed(index, &asked, &submitted, cluster);
        submitted.job.run_time = self.run_time(index, job, &submitted.job);
        submitted.job.ending = self.ending(index, job);
        if self.instead_of_limits.is_some() {
            // What a reservation pads stays on top.
            let padding = if submitted.hold_until.is_some() { submitted.job.estimate - asked.estimate } else { Seconds::ZERO };
            submitted.job.estimate = submitted.job.run_time + padding;
        }
        submitted
    }

    fn started(&mut self, index: JobIndex, job: &Job, record: &Record) {
        let job = self.shown(job);
        self.decider.started(index, &job, record);
    }

    fn ended(&mut self, index: JobIndex, job: &Job, record: &Record) {
        if let MoldedRunTimes::OwnRuns(runs) = &mut self.molded_run_times
            && self.is_molded.get(index as usize) != Some(&true)
        {
            runs.ended(job.user, job.processors, record.run_time());
        }
        let job = Job { ending: job.ending, ..self.shown(job) };
        self.decider.ended(index, &job, record);
    }

    fn withdrawn(&mut self, index: JobIndex) {
        self.decider.withdrawn(index);
    }

    fn wakes_at(&self) -> Option<UnixTime> {
        self.decider.wakes_at()
    }

    fn revise(&mut self, cluster: &Cluster) -> Vec<Revised> {
        self.decider.revise(cluster)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Machine, simulate};
    use rand::SeedableRng;

    /// Makes each job half as large, and sees what it is shown before and after the run.
    #[derive(Default)]
    struct Halves {
        shown: Vec<(Seconds, Ending)>,
        ended: Vec<Ending>,
    }

    impl Decider for Halves {
        fn decide(&mut self, _: JobIndex, asked: &Job, cluster: &Cluster) -> Submitted {
            self.shown.push((asked.run_time, asked.ending));
            Submitted { job: Job { processors: asked.processors / 2, ..*asked }, eligible: cluster.now(), hold_until: None }
        }

        fn passed(&mut self, _: JobIndex, _: &Job, _: &Submitted, _: &Cluster) {}

        fn started(&mut self, _: JobIndex, job: &Job, _: &Record) {
            self.shown.push((job.run_time, job.ending));
        }

        fn ended(&mut self, _: JobIndex, job: &Job, _: &Record) {
            self.ended.push(job.ending);
        }
    }

    #[test]
    fn how_a_job_ends_is_seen_once_it_has_and_what_its_limit_cuts_at_another_size_does_not_complete() {
        // On one processor of two each runs for 100 s, which the first job's limit does not leave.
        let job = |estimate, ending| Job { run_time: Seconds(50), estimate: Seconds(estimate), processors: 2, ending, ..Job::default() };
        let jobs = [job(60, Ending::Completed), job(100, Ending::Failed), job(100, Ending::Completed)];
        let runs = MoldedRunTimes::OwnRuns(Box::new(OwnRuns::new(ChaCha8Rng::seed_from_u64(1))));
        let mut policy = ExperimentPolicy::new(Halves::default(), runs, 0..3, vec![true; 3], None);
        simulate(&jobs, &Machine::new(8), &mut super::super::easy(), &mut policy).unwrap();
        assert_eq!(policy.changed().cut_by_limit, 1);
        let endings: Vec<Ending> = (0..).zip(&jobs).map(|(index, job)| policy.ending(index, job)).collect();
        assert_eq!(endings, [Ending::TimedOut, Ending::Failed, Ending::Completed]);
        let Halves { shown, mut ended } = policy.into_decider();
        assert_eq!(shown, [(Seconds::ZERO, Ending::Completed); 6]);
        ended.sort_by_key(|ending| *ending as u8);
        assert_eq!(ended, [Ending::Completed, Ending::Failed, Ending::TimedOut]);
    }

    #[test]
    fn the_wheel_gives_each_run_at_that_size_the_same_chance() {
        let mut wheel = OwnRuns::new(ChaCha8Rng::seed_from_u64(1));
        [100, 100, 100, 900].iter().for_each(|run| wheel.ended(UserId(7), 4, Seconds(*run)));
        wheel.ended(UserId(7), 8, Seconds(5));
        wheel.ended(UserId(8), 4, Seconds(5));
        let job = Job { user: UserId(7), processors: 16, run_time: Seconds(50), ..Job::default() };
        let drawn: Vec<i64> = (0..4_000).map(|_| wheel.draw(&job, 4).0).collect();
        let long = drawn.iter().filter(|run| **run == 900).count();
        assert!(drawn.iter().all(|run| [100, 900].contains(run)) && (900..1_100).contains(&long), "{long}");
        assert_eq!((wheel.draw(&job, 2), wheel.draw(&job, 32)), (Seconds(400), Seconds(50)), "no run at that size");
    }
}
