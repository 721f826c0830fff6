//! Whether a submission can ask for a firm slot at all. The site's policy and the plan of the queue
//! are not asked here: the daemon does that once it has seen the job.

use super::FirmRequest;
use crate::decisions::{DerivedInputs, FixedSizeReason, Limit, OutsidePlan, StartBlocker};
use job_types::options::IfRefused;
use job_types::time::{Seconds, UnixTime};
use job_types::window::{FARTHEST_AHEAD, WindowNeeds, WindowRefused};
use std::fmt;

/// A firm slot that a submission asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AskedSlot {
    /// The slot.
    pub request: FirmRequest,
    /// What becomes of the job if there is none.
    pub if_refused: IfRefused,
    /// When the job becomes eligible: the begin of the window; `None` if that has passed.
    pub begin: Option<UnixTime>,
}

/// Why a submission can't ask for a firm slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoSlot {
    /// A component of a heterogeneous job.
    Heterogeneous,
    /// An array, of which each task would need a slot of its own.
    Array,
    /// The job must start at once.
    Immediate,
    /// The job asks for a virtual reservation as well.
    ReserveAt,
    /// The job carries a begin time of its own.
    OwnBegin,
    /// The job carries a deadline.
    Deadline,
    /// Something else decides when the job starts.
    Obstacle(StartBlocker),
    /// The job names several partitions.
    SeveralPartitions,
    /// Another cluster of the federation may get the job.
    ChoosesClusters,
    /// The job asks for something that no slot can be looked for by.
    OutsidePlan(OutsidePlan),
    /// The job gives no number of nodes.
    NoNodes,
    /// The job has no time limit.
    Unlimited,
    /// The job is larger or longer, or smaller, than this limit allows.
    BeyondLimit(Limit),
    /// No slot fits into the window.
    Window(WindowRefused),
}

impl fmt::Display for NoSlot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NoSlot::Heterogeneous => "a heterogeneous job can't have a firm slot",
            NoSlot::Array => "an array of jobs can't have a firm slot; submit its tasks one by one",
            NoSlot::Immediate => "--immediate and --reserve-window contradict each other; give one of them",
            NoSlot::ReserveAt => "--reserve-at and --reserve-window contradict each other; give one of them",
            NoSlot::OwnBegin => "--begin and --reserve-window contradict each other; give one of them",
            NoSlot::Deadline => "--deadline and --reserve-window contradict each other; give one of them",
            NoSlot::Obstacle(StartBlocker::Dependency) => {
                "--dependency lets other jobs decide when this one starts; give only one of it and --reserve-window"
            }
            NoSlot::Obstacle(StartBlocker::Held) => "a held job does not start by itself; submit it without --hold or --priority=0",
            NoSlot::Obstacle(StartBlocker::Reservation) => {
                "the job runs inside a reservation already; give only one of --reservation and --reserve-window"
            }
            NoSlot::SeveralPartitions => "a firm slot is in one partition; name one with --partition",
            NoSlot::ChoosesClusters => "--cluster-constraint may send the job to another cluster; give only one of it and --reserve-window",
            NoSlot::OutsidePlan(what) => return write!(f, "{what}, of which the plan of the queue knows nothing; leave that out"),
            NoSlot::NoNodes => "a firm slot has whole nodes, and the job does not say how many; give --nodes",
            NoSlot::Unlimited => "the job has no time limit; give one with --time",
            NoSlot::BeyondLimit(limit) => return write!(f, "the job does not keep to {limit}"),
            NoSlot::Window(refused) => return write!(f, "{refused}"),
        })
    }
}

/// Returns the firm slot that a submission asks for, or why it can't; `None` where it asks for
/// none.
pub(in crate::decisions) fn asked_slot<F>(context: &DerivedInputs<'_, F>) -> Option<Result<AskedSlot, NoSlot>> {
    let (submission, now) = (context.submission, context.now);
    let asked = &submission.asked;
    let window = asked.reserve_window?;
    let slot = check_shape(context).and_then(|duration| {
        let notice = asked.reserve_notice.map(Seconds);
        window.open(&WindowNeeds { duration, notice, ahead: FARTHEST_AHEAD }, now).map_err(NoSlot::Window)?;
        Ok(AskedSlot {
            request: FirmRequest { nodes: context.size.nodes, duration, window, notice },
            if_refused: asked.if_refused.unwrap_or_default(),
            begin: Some(window.earliest).filter(|earliest| *earliest > now),
        })
    });
    Some(slot)
}

/// Checks that a slot can be of the job's shape, and returns its length, the job's time limit.
fn check_shape<F>(context: &DerivedInputs<'_, F>) -> Result<Seconds, NoSlot> {
    let submission = context.submission;
    let contradictions = [
        (submission.tie == Some(FixedSizeReason::Heterogeneous), NoSlot::Heterogeneous),
        (submission.is_array, NoSlot::Array),
        (submission.is_immediate, NoSlot::Immediate),
        (submission.asked.reserve_at.is_some(), NoSlot::ReserveAt),
        (submission.begin.is_some_and(|begin| begin > context.now), NoSlot::OwnBegin),
        (submission.deadline.is_some(), NoSlot::Deadline),
        (submission.partitions().count() > 1, NoSlot::SeveralPartitions),
        (submission.chooses_clusters, NoSlot::ChoosesClusters),
    ];
    if let Some((_, why)) = contradictions.into_iter().find(|(holds, _)| *holds) {
        return Err(why);
    }
    if let Some(obstacle) = submission.obstacle {
        return Err(NoSlot::Obstacle(obstacle));
    }
    if let Some(what) = submission.outside_plan {
        return Err(NoSlot::OutsidePlan(what));
    }
    if submission.nodes.is_none() {
        return Err(NoSlot::NoNodes);
    }
    let limit = context.limit.ok_or(NoSlot::Unlimited)?;
    context.bounds.admit(context.size, Some(limit)).map_err(NoSlot::BeyondLimit)?;
    Ok(limit)
}
