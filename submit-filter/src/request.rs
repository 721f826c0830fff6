//! Reads a job description into a submission.

use job_types::options::{OptionError, UserOptions, VARIABLE_PREFIX};
use job_types::time::{Seconds, UnixTime};
use predictor_core::decisions::{FixedSizeReason, NodeRange, Placement, StartBlocker, Submission, TimeLimit};
use slurm_sys::job_description::{JobDescription, Minutes, Variables};

/// Reads what the user asked for from the job's control environment, which the user can forge.
///
/// # Errors
/// The first variable of ours that can't be read.
pub(crate) fn asked(description: &JobDescription<'_>) -> Result<UserOptions, OptionError> {
    let mut asked = UserOptions::default();
    for (name, value) in description.variables(Variables::Control, VARIABLE_PREFIX) {
        asked.set(name, value)?;
    }
    Ok(asked)
}

/// Whether there is a variable of ours in the job's control environment.
pub(crate) fn asks(description: &JobDescription<'_>) -> bool {
    description.variables(Variables::Control, VARIABLE_PREFIX).next().is_some()
}

/// The submission that a job description describes.
pub(crate) fn submission<'a>(description: &'a JobDescription<'_>, asked: UserOptions) -> Submission<'a> {
    let least = description.min_nodes();
    let nodes = least.map(|least| NodeRange { least, most: description.max_nodes().unwrap_or(least).max(least) });
    Submission {
        user: description.user(),
        partition: description.partition(),
        account: description.account(),
        qos: description.qos(),
        nodes,
        tasks: description.tasks(),
        tasks_per_node: description.tasks_per_node(),
        cpus_per_task: description.cpus_per_task(),
        min_cpus: description.min_cpus(),
        whole_nodes: description.wants_whole_nodes(),
        limit: match description.time_limit() {
            None => TimeLimit::Unset,
            Some(Minutes::Unlimited) => TimeLimit::Unlimited,
            Some(Minutes::Limited(minutes)) => TimeLimit::Limited(Seconds(i64::from(minutes) * 60)),
        },
        shortest_limit: description.time_min().map(|minutes| Seconds(i64::from(minutes) * 60)),
        begin: description.begin_time().map(UnixTime),
        deadline: description.deadline().map(UnixTime),
        is_array: description.is_array(),
        is_immediate: description.is_immediate(),
        is_interactive: !description.is_batch(),
        chooses_clusters: description.chooses_clusters(),
        obstacle: obstacle(description),
        placement: placement(description),
        tie: tie(description),
        asked,
    }
}

fn obstacle(description: &JobDescription<'_>) -> Option<StartBlocker> {
    StartBlocker::first(|obstacle| match obstacle {
        StartBlocker::Reservation => description.has_reservation(),
        StartBlocker::Dependency => description.has_dependency(),
        StartBlocker::Held => description.is_held(),
    })
}

fn placement(description: &JobDescription<'_>) -> Option<Placement> {
    Placement::first(|placement| match placement {
        Placement::Features => description.wants_features(),
        Placement::ExcludedNodes => description.excludes_nodes(),
        Placement::GenericResources => description.wants_generic_resources(),
        Placement::Memory => description.wants_memory(),
        Placement::NodeShape => description.shapes_nodes(),
    })
}

fn tie(description: &JobDescription<'_>) -> Option<FixedSizeReason> {
    FixedSizeReason::first(|tie| match tie {
        FixedSizeReason::Heterogeneous => description.is_heterogeneous(),
        FixedSizeReason::Interactive => !description.is_batch(),
        FixedSizeReason::NodeList => description.names_nodes(),
        FixedSizeReason::Reservation => description.has_reservation(),
        FixedSizeReason::Licences => description.wants_licences(),
        FixedSizeReason::GenericResourcesPerJob => description.wants_resources_per_job(),
        FixedSizeReason::CountedFeatures => description.counts_features(),
        FixedSizeReason::MostCpus => description.max_cpus().is_some(),
        FixedSizeReason::SeveralPartitions => description.partition().is_some_and(|names| names.contains(',')),
    })
}
