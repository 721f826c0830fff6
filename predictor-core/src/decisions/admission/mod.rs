//! Admission of jobs with deadlines: what is admitted is to be done in time, and what can't be is
//! refused at once, with what could be had (after Yeo and Buyya 2006).
//!
//! The methods that share nodes and the order by deadline stand in
//! [`crate::decisions::deadline_methods`]; here they are asked about a submission.

mod alternatives;
mod edf;
mod probability;
mod shares;
mod uncertain;

pub use alternatives::{AlternativeSize, Alternatives};
pub(super) use probability::DeadlinePlan;
pub use shares::GivenShare;
pub use uncertain::SharingRequest;

use super::molding::{self, Assumption};
use super::{Candidate, DerivedInputs, FixedSizeReason, Placement, StartBlocker, Submission};
use crate::forecasts::forecast::Forecaster;
use job_types::policy::Admission;
use job_types::time::{Seconds, UnixTime};
use std::fmt;

/// The farthest ahead that a deadline is promised.
pub const FARTHEST_DEADLINE: Seconds = Seconds(366 * 86_400);

/// A job that is admitted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Admitted {
    /// The rule that admitted it.
    pub by: Admission,
    /// When it is to be done.
    pub deadline: UnixTime,
    /// The probability of that, where the rule forecasts one.
    pub probability: Option<f64>,
    /// The probability that was wanted; `None` where the rule asks for none.
    pub wanted: Option<f64>,
    /// When it is to become eligible, where that is later than as its user wrote it: a job that
    /// runs long begins when it leaves room for others.
    pub begin: Option<UnixTime>,
}

/// Why a job with a deadline is not admitted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NotAdmitted {
    /// The deadline has passed.
    InThePast,
    /// The deadline is too far ahead to be forecast.
    TooFar,
    /// Something else decides when the job starts.
    Obstacle(StartBlocker),
    /// The job's time limit does not fit before the deadline, even if the job starts at once.
    BeyondLimit {
        /// The changes that would have the job admitted.
        alternatives: Alternatives,
    },
    /// The job is not likely enough to be done in time.
    Unlikely {
        /// The probability that was forecast.
        probability: f64,
        /// The lowest probability that would be admitted.
        wanted: f64,
        /// The changes that would have the job admitted.
        alternatives: Alternatives,
    },
    /// Nothing is known of waits here.
    NoWaits,
    /// Too few nodes have a share of their CPUs left that would do.
    NoShare {
        /// How many nodes the job needs.
        nodes: u32,
        /// The number of nodes that have such a share.
        suitable: u32,
        /// The changes that would have the job admitted.
        alternatives: Alternatives,
    },
}

/// Why a deadline stays Slurm's own, without a promise, where the site admits jobs by a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftToSlurm {
    /// It is a component of a heterogeneous job, whose components start together.
    Heterogeneous,
    /// It is an array, and the rule knows of one job at a time only.
    Array,
    /// Another cluster of the federation may get it.
    ChoosesClusters,
    /// The rule is one of nodes that jobs share.
    NotShared,
    /// The rule chooses the nodes, which something else in the job does already.
    Tied(FixedSizeReason),
    /// The rule chooses the nodes, and not every node will do.
    Placed(Placement),
    /// The rule is one of nodes that jobs share, and the job wants whole nodes.
    WholeNodes,
}

impl fmt::Display for LeftToSlurm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LeftToSlurm::Heterogeneous => "it is part of a heterogeneous job",
            LeftToSlurm::Array => "an array of jobs is not admitted by its forecast; submit its jobs one by one",
            LeftToSlurm::ChoosesClusters => "--cluster-constraint may send the job to another cluster",
            LeftToSlurm::Tied(tie) => return write!(f, "{tie}"),
            LeftToSlurm::Placed(placement) => return write!(f, "{placement}"),
            LeftToSlurm::WholeNodes => "it asks for whole nodes, and would share them",
            LeftToSlurm::NotShared => "this partition does not let jobs share CPUs, as its rule of admission needs",
        })
    }
}

impl fmt::Display for NotAdmitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotAdmitted::InThePast => f.write_str("the deadline has already passed"),
            NotAdmitted::TooFar => f.write_str("the deadline is more than a year ahead"),
            NotAdmitted::Obstacle(obstacle) => f.write_str(match obstacle {
                StartBlocker::Dependency => "--dependency lets other jobs decide when this one starts; give only one of it and --deadline",
                StartBlocker::Held => "a held job does not start by itself; submit it without --hold or --priority=0",
                StartBlocker::Reservation => "the job runs inside a reservation of Slurm's, of which no forecast is made",
            }),
            NotAdmitted::BeyondLimit { .. } => f.write_str("its time limit does not fit before the deadline"),
            NotAdmitted::Unlikely { probability, wanted, .. } => {
                write!(f, "done by the deadline with probability {probability:.2}, less than {wanted}")
            }
            NotAdmitted::NoWaits => f.write_str("nothing is known of waits here"),
            NotAdmitted::NoShare { nodes, suitable, .. } => {
                write!(f, "of the nodes that it needs, {nodes}, only {suitable} have the share of their CPUs left with which it is in time")
            }
        }
    }
}

impl NotAdmitted {
    /// A job is less likely than `asked` to be in time, of which the site says `wanted`. People are
    /// shown whole percent, no less than is asked, but what the site says as it is written.
    fn unlikely(probability: f64, asked: f64, wanted: f64) -> NotAdmitted {
        let wanted = if asked == wanted { wanted } else { (asked * 100.0).ceil() / 100.0 };
        NotAdmitted::Unlikely { probability, wanted, alternatives: Alternatives::default() }
    }

    /// Adds the alternatives to a refusal that a deadline, a size or a time limit decided. Other
    /// refusals stay as they are.
    fn with(self, found: impl FnOnce() -> Alternatives) -> NotAdmitted {
        match self {
            NotAdmitted::BeyondLimit { .. } => NotAdmitted::BeyondLimit { alternatives: found() },
            NotAdmitted::Unlikely { probability, wanted, .. } => NotAdmitted::Unlikely { probability, wanted, alternatives: found() },
            NotAdmitted::NoShare { nodes, suitable, .. } => NotAdmitted::NoShare { nodes, suitable, alternatives: found() },
            other => other,
        }
    }

    /// Returns the changes that would have the job admitted.
    #[must_use]
    pub fn alternatives(&self) -> Alternatives {
        match self {
            NotAdmitted::BeyondLimit { alternatives }
            | NotAdmitted::Unlikely { alternatives, .. }
            | NotAdmitted::NoShare { alternatives, .. } => *alternatives,
            _ => Alternatives::default(),
        }
    }
}

/// What a job gets that is admitted.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Granted {
    pub(super) admitted: Admitted,
    /// The nodes that the job is given a share of, where the rule chooses them.
    pub(super) share: Option<GivenShare>,
}

impl From<Admitted> for Granted {
    fn from(admitted: Admitted) -> Granted {
        Granted { admitted, share: None }
    }
}

/// What becomes of a deadline.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Verdict {
    /// Nothing is in question: the job has no deadline, the partition admits by no rule, or the job
    /// has a virtual reservation, which is a promise of its own.
    NotInQuestion,
    /// It stays Slurm's own.
    Left(LeftToSlurm),
    /// The job is admitted or not.
    Judged(Result<Granted, NotAdmitted>),
}

/// Whether a job with a deadline starts at once if it is admitted, because it shares its nodes: it
/// needs all of the time that is left to it.
pub(super) fn starts_at_once<F>(context: &DerivedInputs<'_, F>) -> bool {
    context.submission.deadline.is_some() && shares_nodes(context) && left(context).is_none()
}

/// Why a deadline stays Slurm's own under the partition's rule, if it does.
fn left<F>(context: &DerivedInputs<'_, F>) -> Option<LeftToSlurm> {
    let (submission, rule) = (context.submission, context.policy.admission);
    match submission.tie {
        Some(FixedSizeReason::Heterogeneous) => Some(LeftToSlurm::Heterogeneous),
        _ if submission.chooses_clusters => Some(LeftToSlurm::ChoosesClusters),
        // For a rule that goes by time limits alone, what holds for one job of an array holds for
        // each.
        _ if submission.is_array && rule != Admission::Edf => Some(LeftToSlurm::Array),
        _ if !shares_nodes(context) => None,
        Some(tie @ (FixedSizeReason::NodeList | FixedSizeReason::SeveralPartitions | FixedSizeReason::CountedFeatures)) => {
            Some(LeftToSlurm::Tied(tie))
        }
        _ if submission.whole_nodes => Some(LeftToSlurm::WholeNodes),
        _ => submission.placement.map(LeftToSlurm::Placed),
    }
}

/// Whether a job is admitted as it was decided.
pub(super) fn admission<F>(context: &DerivedInputs<'_, F>, decided: Option<&Candidate>) -> Verdict
where
    F: Forecaster,
{
    let submission = context.submission;
    let rule = context.policy.admission;
    let deadline = submission.deadline.filter(|_| submission.asked.reserve_at.is_none() && rule != Admission::Off);
    let Some(deadline) = deadline else { return Verdict::NotInQuestion };
    if let Some(left) = left(context) {
        return Verdict::Left(left);
    }
    let ahead = deadline - context.now;
    let refusal = match submission.obstacle {
        _ if ahead <= Seconds::ZERO => Some(NotAdmitted::InThePast),
        _ if ahead > FARTHEST_DEADLINE => Some(NotAdmitted::TooFar),
        Some(obstacle) => Some(NotAdmitted::Obstacle(obstacle)),
        None => None,
    };
    if let Some(refusal) = refusal {
        return Verdict::Judged(Err(refusal));
    }
    match judged_behind(context, decided, deadline) {
        None => Verdict::Left(LeftToSlurm::NotShared),
        Some(judged) => Verdict::Judged(judged.map_err(|why| {
            why.with(|| match rule {
                Admission::Libra | Admission::LibraRisk => shares::alternatives(context, decided, deadline),
                Admission::Probability if shares_nodes(context) => uncertain::alternatives(context, deadline),
                _ => alternatives::alternatives(context, deadline, |asked| alternatives::admits(context, asked)),
            })
        })),
    }
}

/// Whether the rule chooses nodes that jobs share in time.
fn shares_nodes<F>(context: &DerivedInputs<'_, F>) -> bool {
    let rule = context.policy.admission;
    rule.shares_nodes() || (rule.chooses_shared_nodes() && !context.partition.shared_nodes.is_empty())
}

/// What the partition's rule says of a job, as it was decided, and a deadline, behind what was
/// admitted since slurmctld's queue was read. What could be had instead is found by asking this
/// again.
fn judged_behind<F>(context: &DerivedInputs<'_, F>, decided: Option<&Candidate>, deadline: UnixTime) -> Option<Result<Granted, NotAdmitted>>
where
    F: Forecaster,
{
    let ahead = work_ahead(context);
    if ahead == Seconds::ZERO || decided.is_some() && probability::has_place_for_claimed(context) {
        return judged(context, decided, deadline);
    }
    // As if the time that the others take were gone already.
    let earlier = deadline - ahead;
    let submission = Submission { deadline: Some(earlier), ..context.submission.clone() };
    let changed = DerivedInputs { submission: &submission, ..*context };
    let assumption = Assumption { delay: changed.delay_as_written(), starts_then: false };
    let count = decided.map_or(context.size.count(submission.unit()), |decided| decided.count);
    let candidate = molding::candidate(&changed, count, &assumption).map(|(candidate, _)| candidate);
    judged(&changed, candidate.as_ref(), earlier).map(|judged| judged.map(|granted| Admitted { deadline, ..granted.admitted }.into()))
}

/// How long the whole partition is busy with what was admitted to it, by anybody, since slurmctld's
/// queue was read. Forecasts do not know of those jobs, and where they run is not known yet: so,
/// where no plan has a place for them, their work is taken to be done before any other, on all CPUs
/// at once. A burst of jobs is then promised no more than the partition can do, however they lie
/// beside each other in the end.
///
/// By time limits alone nobody's work counts: that is for the order by deadline. Where jobs share
/// nodes, the shares of those that were admitted since are on their nodes.
fn work_ahead<F>(context: &DerivedInputs<'_, F>) -> Seconds {
    if context.policy.admission != Admission::Probability || shares_nodes(context) {
        return Seconds::ZERO;
    }
    let work = context.claimed.admitted.expected_work / u64::from(context.partition.cpus.max(1));
    Seconds(i64::try_from(work).unwrap_or(i64::MAX))
}

/// What the partition's rule says of a job, as it was decided, and a deadline; `None` where the
/// rule does not fit the partition.
fn judged<F>(context: &DerivedInputs<'_, F>, decided: Option<&Candidate>, deadline: UnixTime) -> Option<Result<Granted, NotAdmitted>>
where
    F: Forecaster,
{
    match context.policy.admission {
        Admission::Off => None,
        Admission::Libra | Admission::LibraRisk => shares::admission(context, decided, deadline),
        Admission::Edf => Some(edf::admission(context, decided, deadline).map(Granted::from)),
        Admission::Probability if shares_nodes(context) => Some(uncertain::admission(context, decided, deadline)),
        Admission::Probability => Some(probability::admission(context, decided, deadline).map(Granted::from)),
    }
}
