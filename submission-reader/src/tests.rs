use super::*;
use rules_compiler::described::DescribedJob;
use site_rules::data::OwnedValue;
use std::collections::BTreeMap;

/// A batch job with these fields.
fn batch(fields: &[(Name, OwnedValue)]) -> DescribedJob {
    let batch = (Name::IsBatch, OwnedValue::Truth(true));
    DescribedJob::new([batch].into_iter().chain(fields.iter().cloned()).collect(), BTreeMap::new())
}

fn number(number: i64) -> OwnedValue {
    OwnedValue::Integer(number)
}

fn text(text: &str) -> OwnedValue {
    OwnedValue::Text(text.to_owned())
}

fn list(list: &str) -> OwnedValue {
    OwnedValue::Resources(list.to_owned())
}

/// What keeps a job with these fields from starting, what places it and what ties it to its size.
fn reasons(fields: &[(Name, OwnedValue)]) -> (Option<StartBlocker>, Option<Placement>, Option<FixedSizeReason>) {
    let job = batch(fields);
    let Submission { obstacle, placement, tie, .. } = submission(&job, UserOptions::default());
    (obstacle, placement, tie)
}

#[test]
fn a_job_that_says_nothing_is_held_to_nothing() {
    let job = batch(&[]);
    let read = submission(&job, UserOptions::default());
    assert_eq!((read.obstacle, read.placement, read.tie), (None, None, None));
    assert_eq!((read.nodes, read.tasks, read.limit), (None, None, TimeLimit::Unset));
    assert!(!(read.is_array || read.is_immediate || read.is_interactive || read.whole_nodes || read.chooses_clusters));
}

#[test]
fn each_reason_has_its_fields() {
    let yes = || OwnedValue::Truth(true);
    for (name, value, expected) in [
        (Name::Reservation, text("maintenance"), (Some(StartBlocker::Reservation), None, Some(FixedSizeReason::Reservation))),
        (Name::Dependency, text("afterok:1"), (Some(StartBlocker::Dependency), None, None)),
        (Name::Priority, number(0), (Some(StartBlocker::Held), None, None)),
        (Name::Priority, number(1), (None, None, None)),
        (Name::Features, text("fast"), (None, Some(Placement::Features), None)),
        (Name::Features, text("fast*2"), (None, Some(Placement::Features), Some(FixedSizeReason::CountedFeatures))),
        (Name::ClusterFeatures, text("fast"), (None, Some(Placement::Features), None)),
        (Name::ExcNodes, text("n1"), (None, Some(Placement::ExcludedNodes), None)),
        (Name::TresPerNode, list("gres/gpu:1"), (None, Some(Placement::GenericResources), None)),
        (Name::TresPerTask, list("cpu=2"), (None, None, None)),
        (Name::TresPerTask, list("cpu:2,gres/gpu:1"), (None, Some(Placement::GenericResources), None)),
        (Name::MemoryPerNode, number(1 << 30), (None, Some(Placement::Memory), None)),
        (Name::MemoryPerCpu, number(1 << 30), (None, Some(Placement::Memory), None)),
        (Name::MemPerTres, list("gres/gpu:1"), (None, Some(Placement::Memory), None)),
        (Name::MemIsZero, yes(), (None, Some(Placement::Memory), None)),
        (Name::CoresPerSocket, number(4), (None, Some(Placement::NodeShape), None)),
        (Name::PnMinTmpDisk, number(1 << 30), (None, Some(Placement::NodeShape), None)),
        (Name::Contiguous, yes(), (None, Some(Placement::NodeShape), None)),
        (Name::PnMinCpus, number(1), (None, None, None)),
        (Name::PnMinCpus, number(2), (None, Some(Placement::NodeShape), None)),
        (Name::HetJobOffset, number(0), (None, None, Some(FixedSizeReason::Heterogeneous))),
        (Name::IsBatch, OwnedValue::Truth(false), (None, None, Some(FixedSizeReason::Interactive))),
        (Name::ReqNodes, text("n1"), (None, None, Some(FixedSizeReason::NodeList))),
        (Name::Licenses, text("matlab:1"), (None, None, Some(FixedSizeReason::Licences))),
        (Name::TresPerJob, list("gres/gpu:1"), (None, None, Some(FixedSizeReason::GenericResourcesPerJob))),
        (Name::MaxCpus, number(8), (None, None, Some(FixedSizeReason::MostCpus))),
        (Name::Partition, text("batch,long"), (None, None, Some(FixedSizeReason::SeveralPartitions))),
        (Name::Partition, text("batch"), (None, None, None)),
    ] {
        let words = format!("{name:?} is {value:?}");
        assert_eq!(reasons(&[(name, value)]), expected, "{words}");
    }
}

#[test]
fn what_the_plan_does_not_know_is_found_behind_whatever_else_the_job_asks_for() {
    // The first that ties the job and the first that places it hide the others.
    let behind = [(Name::IsBatch, OwnedValue::Truth(false)), (Name::MemoryPerNode, number(1 << 30))];
    let outside = |name: Name, value: OwnedValue| {
        let fields: Vec<_> = behind.iter().cloned().chain([(name, value)]).collect();
        submission(&batch(&fields), UserOptions::default()).outside_plan
    };
    for (name, value, expected) in [
        (Name::ReqNodes, text("n1"), Some(OutsidePlan::NodeList)),
        (Name::ExcNodes, text("n1"), Some(OutsidePlan::ExcludedNodes)),
        (Name::Features, text("fast"), Some(OutsidePlan::Features)),
        (Name::TresPerNode, list("gres/gpu:1"), Some(OutsidePlan::GenericResources)),
        (Name::TresPerJob, list("gres/gpu:1"), Some(OutsidePlan::GenericResources)),
        (Name::TresPerTask, list("cpu=2"), None),
        (Name::Licenses, text("matlab:1"), Some(OutsidePlan::Licences)),
        (Name::Contiguous, OwnedValue::Truth(true), Some(OutsidePlan::NodeShape)),
        (Name::PnMinCpus, number(2), Some(OutsidePlan::NodeShape)),
        (Name::MaxCpus, number(8), None),
    ] {
        let words = format!("{name:?} is {value:?}");
        assert_eq!(outside(name, value), expected, "{words}");
    }
}

#[test]
fn the_cpus_of_a_task_shape_no_node() {
    let shaped = |cpus| reasons(&[(Name::CpusPerTask, number(4)), (Name::PnMinCpus, number(cpus))]).1;
    assert_eq!([4, 5].map(shaped), [None, Some(Placement::NodeShape)]);
}

#[test]
fn a_range_of_nodes_has_at_least_as_many_as_it_begins_with() {
    let nodes =
        |least, most| submission(&batch(&[(Name::MinNodes, number(least)), (Name::MaxNodes, number(most))]), UserOptions::default()).nodes;
    assert_eq!(nodes(2, 4), Some(NodeRange { least: 2, most: 4 }));
    assert_eq!(nodes(4, 2), Some(NodeRange { least: 4, most: 4 }));
}

#[test]
fn no_time_limit_is_told_from_none_that_is_given() {
    let limit = |name, value| submission(&batch(&[(name, value)]), UserOptions::default()).limit;
    assert_eq!(limit(Name::TimeLimit, OwnedValue::Duration(Seconds(60))), TimeLimit::Limited(Seconds(60)));
    assert_eq!(limit(Name::TimeLimitIsUnlimited, OwnedValue::Truth(true)), TimeLimit::Unlimited);
    assert_eq!(limit(Name::TimeLimitIsUnlimited, OwnedValue::Truth(false)), TimeLimit::Unset);
}

/// A job that has something in each field, of which nothing can be read.
struct Unreadable;

impl Fields for Unreadable {
    fn field(&self, _: FieldNumber) -> Option<Value<'_>> {
        None
    }

    fn variable(&self, _: &str) -> Option<&str> {
        None
    }

    fn has(&self, _: FieldNumber) -> bool {
        true
    }
}

#[test]
fn a_text_that_can_not_be_read_counts_as_given() {
    let job = Job(&Unreadable);
    assert!(job.lists_generic_resources(Name::TresPerNode) && job.is_tied_by(FixedSizeReason::NodeList));
    let read = submission(&Unreadable, UserOptions::default());
    assert_eq!((read.user, read.partition), (NO_USER, None));
}
