//! What follows from several fields of a job, counted by hand.

#![allow(clippy::panic)]

use proptest::prelude::*;
use site_rules::derived;
use site_rules::evaluate::Written;
use site_rules::field::{FieldNumber, Fields, Name};
use site_rules::overlay::{Overlay, Write};
use site_rules::resources;
use site_rules::scratch::{Memory, Scratch};
use site_rules::steps::Steps;
use site_rules::value::{Resources, Value};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// A job of which some fields are known.
#[derive(Debug, Default)]
struct Job {
    integers: BTreeMap<Name, i64>,
    texts: BTreeMap<Name, String>,
    resources: BTreeMap<Name, String>,
    truths: BTreeMap<Name, bool>,
}

impl Job {
    fn of(integers: &[(Name, i64)], resources: &[(Name, &str)]) -> Job {
        let resources = resources.iter().map(|(name, text)| (*name, (*text).to_owned())).collect();
        Job { integers: integers.iter().copied().collect(), resources, ..Job::default() }
    }

    fn integer(&self, name: Name) -> Option<i64> {
        match derived::value(name, self) {
            Some(Value::Integer(number)) => Some(number),
            None => None,
            other => panic!("{name:?} is {other:?}"),
        }
    }

    fn truth(&self, name: Name) -> bool {
        matches!(derived::value(name, self), Some(Value::Truth(true)))
    }
}

impl Fields for Job {
    fn field(&self, field: FieldNumber) -> Option<Value<'_>> {
        let name = field.name()?;
        let texts = || self.texts.get(&name).map(|text| Value::Text(text));
        let resources = || self.resources.get(&name).map(|text| Value::Resources(Resources(text)));
        let truths = || self.truths.get(&name).map(|truth| Value::Truth(*truth));
        self.integers.get(&name).map(|number| Value::Integer(*number)).or_else(texts).or_else(resources).or_else(truths)
    }

    fn variable(&self, _: &str) -> Option<&str> {
        None
    }
}

/// A job that notes which of its fields were read.
struct Noting<'a> {
    job: &'a Job,
    read: RefCell<Vec<Name>>,
}

impl<'a> Noting<'a> {
    fn of(job: &'a Job) -> Noting<'a> {
        Noting { job, read: RefCell::default() }
    }

    fn read(&self) -> Vec<Name> {
        self.read.take()
    }
}

impl Fields for Noting<'_> {
    fn field(&self, field: FieldNumber) -> Option<Value<'_>> {
        self.read.borrow_mut().extend(field.name());
        match field.name().filter(|name| name.is_derived()) {
            Some(name) => derived::value(name, self),
            None => self.job.field(field),
        }
    }

    fn variable(&self, _: &str) -> Option<&str> {
        None
    }
}

#[test]
fn what_is_derived_reads_no_field_but_those_that_it_is_said_to_depend_on() {
    use Name::*;
    // Each of these fields decides in some case whether another one is read.
    let numbers = [NumTasks, NtasksPerNode, NtasksPerTres, MinNodes, MaxNodes, SocketsPerNode, NtasksPerSocket, CpusPerTask, PnMinCpus];
    let lists = [TresPerJob, TresPerNode, TresPerSocket, TresPerTask, CpusPerTres, MemPerTres];
    let mut read: BTreeMap<Name, BTreeSet<Name>> = BTreeMap::new();
    for present in 0..1_u32 << 9 {
        for one in 0..=lists.len() {
            let integers: Vec<_> =
                numbers.into_iter().enumerate().filter(|(bit, _)| present >> bit & 1 == 1).map(|(_, name)| (name, 1)).collect();
            let list = lists.get(one).map(|name| (*name, "gres/gpu:2"));
            let job = Job::of(&integers, list.as_slice());
            for name in Name::ALL.iter().copied().filter(|name| name.is_derived()) {
                let noting = Noting::of(&job);
                let _ = derived::value(name, &noting);
                derived::gpu_types(&noting).take(usize::from(name == GpuTypes) * 99).for_each(drop);
                read.entry(name).or_default().extend(noting.read());
            }
        }
    }
    for (name, read) in read {
        // Types of GPUs are told by a function of their own.
        let said: BTreeSet<Name> = name.depends_on().iter().copied().collect();
        assert!(read.is_subset(&said), "{name:?}: {:?}", read.difference(&said));
        assert!(!said.is_empty(), "{name:?}");
    }
}

#[test]
fn what_follows_is_computed_again_only_after_what_it_depends_on_was_written() {
    let job = Job::of(&[(Name::MinNodes, 2)], &[(Name::TresPerNode, "gres/gpu:4")]);
    let noting = Noting::of(&job);
    let mut memory = Memory::default();
    let mut scratch = Scratch::new(&mut memory);
    let mut overlay = Overlay::new(&noting);
    macro_rules! gpus {
        () => {{
            let mut steps = Steps(10_000);
            let written = overlay.written(FieldNumber::from(Name::Gpus), &mut scratch, &mut steps);
            let number = written.ok().flatten().flatten().map(|value| value.to_string());
            (number, 10_000 - steps.0)
        }};
    }
    let write = |overlay: &mut Overlay<'_>, name: Name, number: i64| {
        overlay.write(Write { field: FieldNumber::from(name), value: Some(Value::Integer(number)) });
    };
    write(&mut overlay, Name::Nice, 5);
    // It is that of the job itself.
    assert_eq!((gpus!(), noting.read()), ((None, 0), vec![]));
    write(&mut overlay, Name::MinNodes, 3);
    let (number, cost) = gpus!();
    assert_eq!((number.as_deref(), cost > 0, noting.read().is_empty()), (Some("12"), true, false));
    write(&mut overlay, Name::Nice, 6);
    assert_eq!((gpus!(), noting.read()), ((Some("12".to_owned()), 0), vec![]));
    write(&mut overlay, Name::MinNodes, 1);
    assert_eq!(gpus!().0.as_deref(), Some("4"));
}

#[test]
fn gpus_are_counted_per_job_node_socket_and_task() {
    use Name::*;
    for (integers, asked, gpus) in [
        (&[][..], &[][..], 0),
        (&[], &[(TresPerJob, "gres/gpu:8")], 8),
        (&[(MinNodes, 2)], &[(TresPerNode, "gres/gpu:a100:4")], 8),
        (&[], &[(TresPerNode, "gres/gpu:4")], 4),
        (&[(MinNodes, 2), (SocketsPerNode, 2)], &[(TresPerSocket, "gres:gpu:1")], 4),
        (&[(NumTasks, 6)], &[(TresPerTask, "cpu=4,gres/gpu=2")], 12),
        (&[(MinNodes, 2), (NtasksPerNode, 3)], &[(TresPerTask, "gres/gpu=1")], 6),
        (&[(NumTasks, 7), (NtasksPerNode, 2)], &[(TresPerNode, "gres/gpu:1")], 4),
        (&[(NumTasks, 8), (NtasksPerTres, 2)], &[], 4),
        (&[(MinNodes, 2)], &[(TresPerNode, "gres/gpu:4"), (TresPerJob, "gres/gpu:6")], 8),
        (&[], &[(TresPerNode, "gres/gpu:2,gres/gpu:a100:1")], 2),
        (&[], &[(TresPerNode, "gres/shard:2")], 0),
    ] {
        assert_eq!(Job::of(integers, asked).integer(Gpus), Some(gpus), "{integers:?} {asked:?}");
    }
}

#[test]
fn gpus_of_a_node_are_absent_where_they_are_not_known() {
    use Name::*;
    let eight = &[(TresPerJob, "gres/gpu:8")][..];
    for (integers, asked, gpus) in [
        (&[][..], &[][..], Some(0)),
        (&[], eight, None),
        (&[(MinNodes, 2), (MaxNodes, 2)], eight, None),
        (&[(MinNodes, 1), (MaxNodes, 1)], eight, Some(8)),
        (&[], &[(TresPerNode, "gres/gpu:a100:4")], Some(4)),
        (&[(SocketsPerNode, 2)], &[(TresPerSocket, "gres/gpu:2")], Some(4)),
        (&[(NtasksPerNode, 3)], &[(TresPerTask, "gres/gpu=1")], Some(3)),
        (&[], &[(TresPerTask, "gres/gpu=1")], None),
    ] {
        assert_eq!(Job::of(integers, asked).integer(GpusPerNode), gpus, "{integers:?} {asked:?}");
    }
}

#[test]
fn types_of_gpus_are_named_from_all_lists() {
    let job = Job::of(&[], &[(Name::TresPerNode, "gres/gpu:a100:2,gres/shard:x:1"), (Name::TresPerTask, "gres/gpu:v100=1,gres/gpu=2")]);
    assert_eq!(derived::gpu_types(&job).collect::<Vec<_>>(), ["a100", "v100"]);
    assert!(job.truth(Name::HasUntypedGpus));
    assert!(!Job::of(&[], &[(Name::TresPerNode, "gres/gpu:a100:2")]).truth(Name::HasUntypedGpus));
    assert!(Job::of(&[(Name::NumTasks, 4), (Name::NtasksPerTres, 1)], &[]).truth(Name::HasUntypedGpus));
    assert!(!Job::default().truth(Name::HasUntypedGpus));
}

#[test]
fn cpus_are_those_of_tasks_nodes_and_gpus() {
    use Name::*;
    for (integers, asked, cpus) in [
        (&[][..], &[][..], 1),
        (&[(MinCpus, 12)], &[], 12),
        (&[(NumTasks, 6), (CpusPerTask, 4)], &[], 24),
        (&[(MinNodes, 3)], &[], 3),
        (&[(MinNodes, 2), (NtasksPerNode, 4), (CpusPerTask, 2)], &[], 16),
        (&[(MinNodes, 2)], &[(TresPerNode, "gres/gpu:4"), (CpusPerTres, "gres/gpu:8")], 64),
        (&[(PnMinCpus, 16), (MinNodes, 2)], &[], 32),
    ] {
        assert_eq!(Job::of(integers, asked).integer(Cpus), Some(cpus), "{integers:?} {asked:?}");
    }
}

#[test]
fn memory_is_that_of_nodes_cpus_or_gpus() {
    use Name::*;
    const GIB: i64 = 1 << 30;
    for (integers, asked, memory) in [
        (&[][..], &[][..], None),
        (&[(MinNodes, 2), (MemoryPerNode, 64 * GIB)], &[], Some(128 * GIB)),
        (&[(NumTasks, 4), (CpusPerTask, 2), (MemoryPerCpu, GIB)], &[], Some(8 * GIB)),
        (&[], &[(TresPerJob, "gres/gpu:4"), (MemPerTres, "gres/gpu:2048")], Some(8 * GIB)),
    ] {
        assert_eq!(Job::of(integers, asked).integer(Memory), memory, "{integers:?} {asked:?}");
    }
}

#[test]
fn words_and_texts_are_told_as_truths() {
    use Name::*;
    let mut job = Job::of(&[(Priority, 0)], &[]);
    assert_eq!([IsHeld, IsArray, Exclusive, IsInteractive].map(|name| job.truth(name)), [true, false, false, true]);
    job.texts = [(ArrayInx, "0-9%2".to_owned()), (Shared, "none".to_owned()), (Partition, "a,b".to_owned())].into();
    job.truths = [(IsBatch, true)].into();
    assert_eq!([IsArray, Exclusive, IsInteractive].map(|name| job.truth(name)), [true, true, false]);
    assert_eq!(job.integer(ArraySize), Some(10));
    assert!(matches!(derived::value(Partitions, &job), Some(Value::Texts(_))));
}

proptest! {
    #[test]
    fn any_text_reads_as_resources(text in ".{0,60}", mark in "(gres[/:])?[a-z(]{0,4}[:=]?[0-9a-zA-Z(+-]{0,22}[kmgtp)]?(,|,gres/gpu:)?") {
        for text in [&text, &mark, &format!("{mark}{text}")] {
            for resource in resources::all(text) {
                prop_assert!(resource.count > 0);
            }
            prop_assert!(resources::array_size(text).is_none_or(|size| size > 0));
        }
    }

    #[test]
    fn what_slurm_writes_is_read_as_it_was_meant(
        parts in prop::collection::vec(("[a-z]{1,6}", prop::option::of("[a-z][a-z0-9_]{0,5}"), 1_i64..1000), 1..5),
        form in 0..4_usize,
    ) {
        // A name in which the mark itself stands is read otherwise, by Slurm as well.
        prop_assume!(parts.iter().all(|(kind, subtype, _)| !format!("{kind}{subtype:?}").contains("gres")));
        let (prefix, sign) = [("", ':'), ("gres:", ':'), ("gres/", ':'), ("gres/", '=')][form];
        let part = |(kind, subtype, count): &(String, Option<String>, i64)| {
            format!("{prefix}{kind}{}{sign}{count}", subtype.as_ref().map_or(String::new(), |name| format!(":{name}")))
        };
        let text = parts.iter().map(part).collect::<Vec<_>>().join(",");
        let read: Vec<_> = resources::all(&text).map(|resource| (resource.kind.to_owned(), resource.subtype.to_owned(), resource.count)).collect();
        let meant: Vec<_> = parts.into_iter().map(|(kind, subtype, count)| (kind, subtype.unwrap_or_default(), count)).collect();
        prop_assert_eq!(read, meant);
    }

    #[test]
    fn any_numbers_and_lists_have_what_follows_from_them(
        numbers in prop::collection::vec(any::<i64>(), Name::ALL.len()),
        list in "((gres[/:])?gpu(:[a-z0-9]{1,3})?[:=][0-9]{0,20}[kP]?,?){0,4}",
    ) {
        let integers = Name::ALL.iter().copied().zip(numbers).filter(|(name, _)| !derived::RESOURCE_FIELDS.contains(name)).collect();
        let resources = derived::RESOURCE_FIELDS.into_iter().map(|name| (name, list.clone())).collect();
        let job = Job { integers, resources, ..Job::default() };
        for name in Name::ALL.iter().filter(|name| name.is_derived()) {
            if let Some(Value::Integer(number)) = derived::value(*name, &job) {
                prop_assert!(number >= 0 || *name == Name::Memory, "{name:?} is {number}");
            }
        }
        derived::gpu_types(&job).count();
    }
}
