//! EDF, Libra and LibraRisk as policies of nodes that are shared in time.
//!
//! What is decided stands in [`predictor_core::decisions::deadline_methods`]; here is when.

use job_types::time::UnixTime;
use predictor_core::decisions::deadline_methods::edf::{self, Queued, Selected};
use predictor_core::decisions::deadline_methods::{Newcomer, NodeLoad, SparePower, libra, libra_risk};

use crate::engine::shared::{Answer, DeadlineJob, Policy, Sharing};

/// A published method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Method {
    /// Earliest deadline first on nodes with one job each; the selected job is refused where its
    /// deadline can't be met.
    Edf,
    /// Earliest deadline first without admission control: no job is refused.
    EdfWithoutAdmission,
    /// Libra.
    Libra,
    /// LibraRisk.
    LibraRisk,
}

impl Method {
    /// All of them.
    pub const ALL: [Method; 4] = [Self::Edf, Self::EdfWithoutAdmission, Self::Libra, Self::LibraRisk];

    /// Returns the name of the method.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// How LibraRisk projects delays, which the publication does not say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Projection {
    /// Shares are dealt anew whenever a job ends.
    #[default]
    DealtAnew,
    /// Shares beyond the node are stretched once: all deadline delays of a node are the same, and
    /// only a job that is late already is a risk.
    StretchedOnce,
}

/// What the publication leaves open, chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Choices {
    /// How the nodes of Libra and LibraRisk are shared.
    pub sharing: Sharing,
    /// How LibraRisk projects delays.
    pub projection: Projection,
}

impl Choices {
    /// The policy of a method, and how its nodes are shared.
    #[must_use]
    pub fn policy(&self, method: Method, machine_nodes: usize) -> (Box<dyn Policy>, Sharing) {
        // A job that has its nodes alone has all of their power.
        let alone = Sharing { spare: SparePower::Given, ..self.sharing };
        match method {
            Method::Edf | Method::EdfWithoutAdmission => {
                (Box::new(Edf { has_admission: method == Method::Edf, machine_nodes, queue: Vec::new() }), alone)
            }
            Method::Libra => (Box::new(Immediate { admit: libra_admit, newcomer: None }), self.sharing),
            Method::LibraRisk => {
                let admit = match self.projection {
                    Projection::DealtAnew => libra_risk::admit,
                    Projection::StretchedOnce => admit_unless_late,
                };
                (Box::new(Immediate { admit, newcomer: None }), self.sharing)
            }
        }
    }
}

type Admit = fn(&[NodeLoad], &Newcomer, UnixTime, &mut Vec<u32>) -> bool;

fn libra_admit(nodes: &[NodeLoad], job: &Newcomer, _now: UnixTime, chosen: &mut Vec<u32>) -> bool {
    libra::admit(nodes, job, chosen)
}

/// LibraRisk where shares are stretched once: the first nodes without a job whose deadline has
/// passed.
fn admit_unless_late(nodes: &[NodeLoad], job: &Newcomer, now: UnixTime, chosen: &mut Vec<u32>) -> bool {
    chosen.clear();
    chosen.extend((0_u32..).zip(nodes).filter(|(_, node)| node.earliest_deadline > now).map(|(place, _)| place).take(job.nodes));
    chosen.len() == job.nodes
}

/// A method that takes or refuses a job when it comes.
struct Immediate {
    admit: Admit,
    newcomer: Option<(u32, DeadlineJob)>,
}

impl Policy for Immediate {
    fn submit(&mut self, index: u32, job: &DeadlineJob) {
        self.newcomer = Some((index, *job));
    }

    fn decide(&mut self, _now_s: f64, nodes: &[NodeLoad], chosen: &mut Vec<u32>) -> Option<Answer> {
        let (index, job) = self.newcomer.take()?;
        // A job is asked about in the second in which it comes.
        let newcomer = Newcomer::submitted(job.submit, job.estimate, job.deadline, job.nodes as usize);
        let is_taken = newcomer.is_some_and(|newcomer| (self.admit)(nodes, &newcomer, job.submit, chosen));
        Some(if is_taken { Answer::Starts(index) } else { Answer::Refused(index) })
    }

    fn has_jobs(&self) -> bool {
        self.newcomer.is_some()
    }
}

/// A queue in the order of the deadlines, and nodes with one job each.
struct Edf {
    has_admission: bool,
    machine_nodes: usize,
    queue: Vec<Queued>,
}

impl Policy for Edf {
    fn submit(&mut self, index: u32, job: &DeadlineJob) {
        let queued = Queued { deadline: job.deadline, arrival: index, estimate: job.estimate, processors: job.nodes };
        self.queue.insert(edf::place(&self.queue, &queued), queued);
    }

    fn decide(&mut self, now_s: f64, nodes: &[NodeLoad], chosen: &mut Vec<u32>) -> Option<Answer> {
        let first = *self.queue.first()?;
        // Ends are at fractions of a second only by rounding.
        let now = UnixTime((now_s - 1e-3).ceil() as i64);
        let idle = || (0_u32..).zip(nodes).filter(|(_, node)| node.jobs == 0).map(|(place, _)| place);
        let answer = match edf::select(&first, now, idle().count() as u32, self.has_admission) {
            Selected::Waits if first.processors as usize <= self.machine_nodes => return None,
            Selected::Waits | Selected::Refused => Answer::Refused(first.arrival),
            Selected::Starts => {
                chosen.clear();
                chosen.extend(idle().take(first.processors as usize));
                Answer::Starts(first.arrival)
            }
        };
        self.queue.remove(0);
        Some(answer)
    }

    fn has_jobs(&self) -> bool {
        !self.queue.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use job_types::time::Seconds;
    use predictor_core::decisions::deadline_methods::projection::stretched_once;
    use predictor_core::decisions::deadline_methods::risk::Risk;
    use predictor_core::decisions::deadline_methods::share::Claim;

    use super::*;
    use crate::engine::shared::{Fate, simulate};

    fn job(submit: i64, run_time: i64, estimate: i64, deadline: i64, nodes: u32) -> DeadlineJob {
        DeadlineJob {
            submit: UnixTime(submit),
            run_time: Seconds(run_time),
            estimate: Seconds(estimate),
            nodes,
            deadline: UnixTime(deadline),
        }
    }

    /// Starts and ends on two nodes; `None` for a refused job.
    fn ran(method: Method, choices: Choices, jobs: &[DeadlineJob]) -> Vec<Option<(f64, f64)>> {
        let (mut policy, sharing) = choices.policy(method, 2);
        let fate = |fate: &Fate| match *fate {
            Fate::Done { start_s, end_s } => Some((start_s, (end_s * 1e6).round() / 1e6)),
            Fate::Refused { .. } => None,
            Fate::Open => panic!("a job was never decided about"),
        };
        simulate(jobs, 2, sharing, &mut *policy).iter().map(fate).collect()
    }

    /// The job that comes last is selected before the one that waits for both nodes, and the one
    /// that can't be met any more is refused when it is selected.
    #[test]
    fn edf_selects_anew_as_jobs_come_and_refuses_what_can_not_be_met() {
        let jobs = [job(0, 100, 100, 500, 1), job(10, 50, 50, 160, 2), job(20, 140, 140, 150, 1), job(30, 10, 10, 400, 2)];
        assert_eq!(ran(Method::Edf, Choices::default(), &jobs), [Some((0.0, 100.0)), Some((100.0, 150.0)), None, Some((150.0, 160.0))]);
        let later = [job(0, 100, 100, 500, 1), job(10, 50, 50, 180, 2), job(20, 40, 40, 150, 1)];
        assert_eq!(ran(Method::Edf, Choices::default(), &later), [Some((0.0, 100.0)), Some((100.0, 150.0)), Some((20.0, 60.0))]);
    }

    #[test]
    fn edf_without_admission_runs_every_job() {
        let jobs = [job(0, 100, 100, 150, 2), job(10, 50, 50, 120, 2)];
        assert_eq!(ran(Method::Edf, Choices::default(), &jobs), [Some((0.0, 100.0)), None]);
        assert_eq!(ran(Method::EdfWithoutAdmission, Choices::default(), &jobs), [Some((0.0, 100.0)), Some((100.0, 150.0))]);
    }

    #[test]
    fn a_job_that_is_larger_than_the_machine_is_refused_by_all() {
        for method in Method::ALL {
            assert_eq!(ran(method, Choices::default(), &[job(0, 10, 10, 500, 3), job(1, 10, 10, 500, 1)]), [None, Some((1.0, 11.0))]);
        }
    }

    /// Shares of 0.5 and 0.5 on the same nodes, with a third job of 0.25 that does not fit any
    /// more.
    #[test]
    fn libra_takes_what_fits_at_once_and_refuses_the_rest_at_once() {
        let jobs = [job(0, 50, 50, 100, 2), job(0, 100, 100, 200, 2), job(10, 50, 50, 210, 1)];
        let kept = Choices { sharing: Sharing { spare: SparePower::Kept, ..Sharing::default() }, ..Choices::default() };
        assert_eq!(ran(Method::Libra, kept, &jobs), [Some((0.0, 100.0)), Some((0.0, 200.0)), None]);
        assert_eq!(ran(Method::LibraRisk, kept, &jobs), [Some((0.0, 100.0)), Some((0.0, 200.0)), None]);
    }

    /// The estimate of 300 s is longer than the deadline; the job needs 50.
    #[test]
    fn only_libra_risk_takes_a_job_with_too_long_an_estimate() {
        let jobs = [job(0, 50, 300, 100, 2)];
        assert_eq!(ran(Method::Edf, Choices::default(), &jobs), [None]);
        assert_eq!(ran(Method::Libra, Choices::default(), &jobs), [None]);
        assert_eq!(ran(Method::LibraRisk, Choices::default(), &jobs), [Some((0.0, 50.0))]);
    }

    #[test]
    fn shares_that_are_stretched_once_are_no_risk_unless_a_deadline_has_passed() {
        let claims = |late: f64| {
            [(80.0, 100.0), (500.0, 200.0), (30.0, late)]
                .map(|(remaining_run_s, remaining_deadline_s)| Claim { remaining_run_s, remaining_deadline_s })
        };
        for late in [40.0, -10.0] {
            let claims = claims(late);
            let mut delays = [0.0; 3];
            stretched_once(&claims, SparePower::Given, &mut delays);
            let node = NodeLoad::of(claims[1..].iter().map(|claim| (claim.share(), UnixTime(claim.remaining_deadline_s as i64))));
            let newcomer = Newcomer { share: claims[0].share(), deadline: UnixTime(100), nodes: 1 };
            let is_taken = admit_unless_late(&[node], &newcomer, UnixTime(0), &mut Vec::new());
            assert_eq!(is_taken, Risk::of(&claims, &delays).is_zero(), "{late}");
        }
    }
}
