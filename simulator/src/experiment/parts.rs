//! Which parts of the shipped decision a replay has in force, on which cluster, and what its users
//! ask for.

use job_types::policy::Policy;
use job_types::time::{Seconds, UnixTime};
use published_methods::varq::Choice;

/// What a simulated cluster is like, on which the shipped decision is replayed.
#[derive(Debug, Clone, Copy)]
pub struct Site {
    /// Processors of the machine.
    pub processors: u32,
    /// The longest time limit that a job may have; `None` where the log has no limits.
    pub longest_limit: Option<Seconds>,
    /// How old the state gets before it is published anew.
    pub refresh: Seconds,
}

/// What the users of the jobs ask for that may be changed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RequestedFeatures {
    /// Whether users ask for molding (`--auto-mold`).
    pub molding: bool,
    /// Whether users ask to be deferred if that gains enough (`--auto-defer`).
    pub deferral: bool,
    /// The reservation that users ask for (`--reserve-at`); `None` if they ask for none.
    pub reservation: Option<ReservationWish>,
    /// The slack of the deadline (`--deadline`): a job has to have ended this long after its
    /// submission plus its time limit. `None` if users give no deadline.
    pub deadline: Option<Seconds>,
}

impl Default for RequestedFeatures {
    /// Molding alone.
    fn default() -> Self {
        Self { molding: true, deferral: false, reservation: None, deadline: None }
    }
}

/// The times for which jobs ask for their nodes, and the probability that they ask for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReservationWish {
    /// The distance between the times that are asked for. Each job asks for the next of these
    /// times.
    pub every: Seconds,
    /// The probability, 0 to 1: `--success-probability`, and the site's own.
    pub probability: f64,
    /// Whether users name the probability. Where they do not, jobs get the latest point that
    /// reaches the site's.
    pub names_probability: bool,
    /// Which point of its trajectory the job gets. The most probable one is that of
    /// `--success-probability=best`; what is less probable than `probability` is refused here,
    /// where the plugin would give it.
    pub point: Choice,
}

impl ReservationWish {
    /// The time that a job asks for that is submitted now.
    pub(super) fn next(&self, now: UnixTime) -> UnixTime {
        let every = self.every.0.max(1);
        UnixTime((now.0.div_euclid(every) + 1) * every)
    }
}

/// How jobs with deadlines are admitted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AdmissionRule {
    /// The probability with which a deadline is to be kept.
    pub wanted: f64,
    /// Whether users take another size where that is offered in the place of a refusal.
    pub molding: bool,
    /// Whether jobs that are not likely enough to be in time run as others do.
    pub in_shadow: bool,
}

/// What of a reservation follows the queue after it was given, to see what each is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reviewed {
    /// When the job becomes eligible.
    pub begin: bool,
    /// The padding of its time limit, while it waits and once it runs.
    pub limit: bool,
}

impl Default for Reviewed {
    /// Follows the queue with both, as the daemon does.
    fn default() -> Self {
        Self { begin: true, limit: true }
    }
}

/// What of the shipped decision is in force, to see what each part is worth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ablations {
    /// Jobs are made larger where many processors are free. Without it each job is one that asks
    /// for nodes of a certain shape, of which more may not exist.
    pub growth: bool,
    /// Users ask with `--auto-mold`, so that parts of the size as written and its double are tried.
    /// Without it nobody asks and the policy molds all jobs, to sizes that the user ran.
    pub any_size: bool,
    /// Jobs at sizes that their user never ran are changed as well; their run times are forecast
    /// from others like them. The plugin leaves such jobs, because it is published no run times for
    /// them.
    pub first_runs: bool,
    /// There is a plan of the queue. Without it the decision rests on past waits.
    pub plan: bool,
    /// What was decided about a user's jobs since the state was published is counted for their
    /// later ones.
    pub claims: bool,
    /// What the site wants of a change: what it has to gain, and what it may do to others. When
    /// jobs are changed, and with which probability reservations are asked for, says the replay.
    pub site: Policy,
    /// Prices are held against whole plans as well, which takes two plans for each submission.
    pub agreement: bool,
    /// What follows the queue of a reservation that was given.
    pub reviewed: Reviewed,
}

impl Default for Ablations {
    fn default() -> Self {
        Self {
            growth: true,
            any_size: true,
            first_runs: false,
            plan: true,
            claims: true,
            site: Policy::default(),
            agreement: false,
            reviewed: Reviewed::default(),
        }
    }
}
