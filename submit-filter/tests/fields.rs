//! The fields of a job description as rules read and write them.
#![allow(unsafe_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::hostile::{fill, fill_raw, free_texts, overwrite, view};
use common::{Description, Plugin, text};
use job_submit_queuecast::fields::{JobFields, WriteError, Writes, is_known};
use job_types::time::{Seconds, UnixTime};
use proptest::prelude::*;
use site_rules::field::{FIELDS, FieldNumber, Fields, Name};
use site_rules::overlay::Write;
use site_rules::rules::SLURM_ERRORS;
use site_rules::value::{Kind, Texts, Value};
use slurm_sys::bindings::{INFINITE, NICE_OFFSET, NO_VAL};
use slurm_sys::job_description::JobDescription;
use slurm_sys::job_fields::NumberField;

/// Loads libslurm, whose allocator the descriptions need.
fn with_slurm() {
    static LOADED: std::sync::OnceLock<()> = std::sync::OnceLock::new();
    LOADED.get_or_init(|| std::mem::forget(Plugin::open()));
}

/// What a job has in a field, in words.
fn read(job: &mut Description, name: Name) -> Option<String> {
    let description = view(job);
    let fields = JobFields::from(&description);
    fields.field(FieldNumber::from(name)).map(|value| value.to_string())
}

fn write(job: &mut Description, values: &[(Name, Value<'_>)]) -> Result<(), WriteError> {
    let mut description = view(job);
    let values = values.iter().map(|(name, value)| Write { field: FieldNumber::from(*name), value: Some(*value) });
    Writes::prepare(&description, values).map(|writes| writes.apply(&mut description))
}

#[test]
fn of_a_job_that_says_nothing_only_what_is_always_there_is_read() {
    with_slurm();
    let mut job = Description::unset();
    for (field, name) in FIELDS.iter().zip(Name::ALL) {
        let value = read(&mut job, *name);
        // The library sets the user and the group of nobody, and leaves `oom_kill_step` at 0, which
        // sbatch does not; no GPUs are none on each node.
        if field.may_be_absent && !matches!(name, Name::GroupId | Name::GpusPerNode | Name::OomKillStep) {
            assert_eq!(value, None, "{}", field.name);
        }
        if !field.may_be_absent && *name != Name::Environment {
            let expected = match field.kind {
                Kind::Truth => "false",
                Kind::Texts => "",
                _ if matches!(name, Name::UserId) => continue,
                _ if matches!(name, Name::Cpus | Name::Tasks) => "1",
                _ => "0",
            };
            assert_eq!(
                value.as_deref(),
                Some(if *name == Name::IsInteractive || *name == Name::IsTestOnly { "true" } else { expected }),
                "{}",
                field.name
            );
        }
    }
}

#[test]
fn a_value_is_of_the_kind_that_its_field_has() {
    with_slurm();
    let mut job = Description::batch(2, 8);
    fill(&mut job, &[7; 200], b"1,2:3");
    let description = view(&mut job);
    let fields = JobFields::from(&description);
    for (field, name) in FIELDS.iter().zip(Name::ALL) {
        if let Some(value) = fields.field(FieldNumber::from(*name)) {
            let is_it = matches!(
                (field.kind, value),
                (Kind::Truth, Value::Truth(_))
                    | (Kind::Integer, Value::Integer(_))
                    | (Kind::Text, Value::Text(_))
                    | (Kind::Duration, Value::Duration(_))
                    | (Kind::Moment, Value::Moment(_))
                    | (Kind::Texts, Value::Texts(_))
                    | (Kind::Resources, Value::Resources(_))
            );
            assert!(is_it, "{} is {value:?}", field.name);
        }
    }
    free_texts(&mut job);
}

#[test]
fn numbers_of_slurm_are_read_with_their_units() {
    with_slurm();
    let mut job = Description::batch(2, 8);
    let d = &mut *job.0;
    (d.time_limit, d.time_min, d.pn_min_memory, d.pn_min_tmp_disk) = (90, 30, 2048, 10);
    (d.begin_time, d.deadline, d.wait4switch, d.warn_time) = (1_700_000_000, 1_800_000_000, 60, 120);
    (d.nice, d.shared, d.open_mode, d.mail_type, d.profile, d.core_spec) = (NICE_OFFSET + 100, 0, 1, 0b110, u32::MAX, 2);
    (d.priority, d.requeue, d.x11) = (0, 0, 2);
    for (name, value) in [
        (Name::TimeLimit, "5400s"),
        (Name::TimeMin, "1800s"),
        (Name::MemoryPerNode, "2147483648"),
        (Name::Memory, "4294967296"),
        (Name::PnMinTmpDisk, "10485760"),
        (Name::BeginTime, "@1700000000"),
        (Name::Deadline, "@1800000000"),
        (Name::Wait4switch, "60s"),
        (Name::WarnTime, "120s"),
        (Name::Nice, "100"),
        (Name::Shared, "none"),
        (Name::Exclusive, "true"),
        (Name::OpenMode, "append"),
        (Name::MailType, "END|FAIL"),
        (Name::Profile, "energy|task|lustre|network"),
        (Name::CoreSpec, "2"),
        (Name::IsHeld, "true"),
        (Name::Requeue, "false"),
        (Name::X11Forward, "batch"),
        (Name::NumTasks, "8"),
        (Name::IsBatch, "true"),
        (Name::ScriptSize, "10"),
        (Name::TimeLimitIsUnlimited, "false"),
    ] {
        assert_eq!(read(&mut job, name).as_deref(), Some(value), "{name:?}");
    }
    assert_eq!([Name::MemoryPerCpu, Name::ThreadSpec].map(|name| read(&mut job, name)), [None, None]);
    (job.0.time_limit, job.0.pn_min_memory, job.0.core_spec) = (INFINITE, 1 << 63 | 512, 0x8000 | 3);
    assert_eq!(read(&mut job, Name::TimeLimit), None);
    assert_eq!(read(&mut job, Name::TimeLimitIsUnlimited).as_deref(), Some("true"));
    assert_eq!(read(&mut job, Name::MemoryPerCpu).as_deref(), Some("536870912"));
    assert_eq!(read(&mut job, Name::ThreadSpec).as_deref(), Some("3"));
    for zero in [0, 1 << 63] {
        job.0.pn_min_memory = zero;
        assert_eq!(read(&mut job, Name::MemIsZero).as_deref(), Some("true"));
        assert_eq!([Name::MemoryPerCpu, Name::MemoryPerNode, Name::Memory].map(|name| read(&mut job, name)), [None, None, None]);
    }
}

#[test]
fn texts_and_lists_are_read_and_variables_by_their_names() {
    with_slurm();
    let mut job = Description::batch(1, 1);
    job.environment(&["A=1", "AB=2=3", "A=4", "EMPTY="]);
    job.control(&["X=1"]);
    job.0.comment = text("");
    job.0.tres_per_node = text("gres:gpu:a100:2,gres:gpu:v100:1");
    assert_eq!(read(&mut job, Name::Comment), None);
    assert_eq!(read(&mut job, Name::GpuTypes).as_deref(), Some("a100|v100"));
    assert_eq!(read(&mut job, Name::Gpus).as_deref(), Some("3"));
    assert_eq!(read(&mut job, Name::SpankJobEnv).as_deref(), Some("X=1"));
    assert_eq!(read(&mut job, Name::EnvSize).as_deref(), Some("4"));
    {
        let description = view(&mut job);
        let fields = JobFields::from(&description);
        let values = ["A", "AB", "EMPTY", "B", ""].map(|name| fields.variable(name));
        // Of a variable that stands there twice the shell takes the last.
        assert_eq!(values, [Some("4"), Some("2=3"), Some(""), None, None]);
    }
    free_texts(&mut job);
}

#[test]
fn more_types_of_gpus_than_are_kept_in_place_are_all_named() {
    with_slurm();
    let mut job = Description::unset();
    let types: Vec<String> = (0..30).map(|number| format!("t{number}")).collect();
    let list: Vec<String> = types.iter().map(|name| format!("gres/gpu:{name}:1")).collect();
    job.0.tres_per_job = text(&list.join(","));
    assert_eq!(read(&mut job, Name::GpuTypes), Some(types.join("|")));
    free_texts(&mut job);
}

#[test]
fn a_text_that_is_no_utf_8_is_read_with_marks_in_the_place_of_its_bytes() {
    with_slurm();
    let mut job = Description::unset();
    job.0.comment = text("a?b");
    overwrite(job.0.comment, b"a\xffb");
    job.environment(&["X=a?b"]);
    // SAFETY: the environment has one entry, of our own.
    overwrite(unsafe { *job.0.environment }, b"X=a\xffb");
    assert_eq!(read(&mut job, Name::Comment).as_deref(), Some("a\u{fffd}b"));
    {
        let description = view(&mut job);
        assert_eq!(JobFields::from(&description).variable("X"), Some("a\u{fffd}b"));
    }
    free_texts(&mut job);
}

#[test]
fn what_is_written_reads_as_it_was_written() {
    with_slurm();
    let text = |value| Value::Text(value);
    for (name, value, expected) in [
        (Name::Account, text("physics"), "physics"),
        (Name::Partition, text("a,b"), "a,b"),
        (Name::TimeLimit, Value::Duration(Seconds(90)), "120s"),
        (Name::TimeMin, Value::Duration(Seconds(1)), "60s"),
        (Name::BeginTime, Value::Moment(UnixTime(1_900_000_000)), "@1900000000"),
        (Name::MemoryPerNode, Value::Integer((1 << 30) + 1), "1074790400"),
        (Name::MemoryPerCpu, Value::Integer(1 << 30), "1073741824"),
        (Name::CoreSpec, Value::Integer(2), "2"),
        (Name::ThreadSpec, Value::Integer(4), "4"),
        (Name::Shared, text("user"), "user"),
        (Name::OpenMode, text("truncate"), "truncate"),
        (Name::Requeue, Value::Truth(false), "false"),
        (Name::Contiguous, Value::Truth(true), "true"),
        (Name::Nice, Value::Integer(-50), "-50"),
        (Name::SiteFactor, Value::Integer(12), "12"),
        (Name::Priority, Value::Integer(0), "0"),
        (Name::MailType, Value::Texts(Texts::Separated("END,TIME_LIMIT_80", ',')), "END|TIME_LIMIT_80"),
        (Name::Profile, Value::Texts(Texts::Separated("task,network", ',')), "task|network"),
        (Name::SpreadJob, Value::Truth(true), "true"),
        (Name::GresDisableBind, Value::Truth(true), "true"),
        (Name::KillInvalidDepend, Value::Truth(false), "false"),
        (Name::KillInvalidDepend, Value::Truth(true), "true"),
        (Name::Immediate, Value::Truth(true), "true"),
        (Name::Clusters, text("a,b"), "a,b"),
        (Name::Container, text("/bundle"), "/bundle"),
        (Name::EndTime, Value::Moment(UnixTime(1_900_000_000)), "@1900000000"),
        (Name::CpuFreqMax, Value::Integer(2_400_000), "2400000"),
        (Name::BoardsPerNode, Value::Integer(2), "2"),
        (Name::SelinuxContext, text("user_t"), "user_t"),
        (Name::NumTasks, Value::Integer(i64::MAX), "4294967293"),
        (Name::CpusPerTask, Value::Integer(-5), "0"),
    ] {
        let mut job = Description::batch(2, 8);
        write(&mut job, &[(name, value)]).unwrap();
        let expected = (expected != "0" || name == Name::Priority).then_some(expected);
        assert_eq!(read(&mut job, name).as_deref(), expected, "{name:?}");
        free_texts(&mut job);
    }
}

#[test]
fn resources_are_written_as_sbatch_of_this_slurm_does() {
    with_slurm();
    let prefix = JobDescription::resource_prefix();
    let mut job = Description::unset();
    write(
        &mut job,
        &[
            (Name::TresPerNode, Value::Text("gpu:a100:2,gres:shard:1,gres/x")),
            (Name::TresPerTask, Value::Text("cpu=4,gres/gpu=1,license/a=1")),
        ],
    )
    .unwrap();
    assert_eq!(read(&mut job, Name::TresPerNode), Some(format!("{prefix}gpu:a100:2,{prefix}shard:1,{prefix}x")));
    assert_eq!(read(&mut job, Name::TresPerTask), Some(format!("cpu=4,{prefix}gpu=1,license/a=1")));
    free_texts(&mut job);
}

#[test]
fn what_is_for_each_gpu_is_written_and_taken_out_with_the_variables_that_srun_reads() {
    with_slurm();
    let prefix = JobDescription::resource_prefix();
    let mut job = Description::batch(1, 1);
    job.free_environment();
    job.environment(&["SLURM_CPUS_PER_GPU=4", "SLURM_MEM_PER_GPU=100", "HOME=/root"]);
    write(&mut job, &[(Name::CpusPerTres, Value::Text("gpu:8")), (Name::MemPerTres, Value::Text("gpu:a100:16384"))]).unwrap();
    assert_eq!(
        [Name::CpusPerTres, Name::CpusPerGpu].map(|name| read(&mut job, name)),
        [Some(format!("{prefix}gpu:8")), Some("8".to_owned())]
    );
    assert_eq!(read(&mut job, Name::MemPerGpu).as_deref(), Some("17179869184"));
    assert_eq!(
        ["SLURM_CPUS_PER_GPU", "SLURM_MEM_PER_GPU"].map(|name| job.variable(name)),
        [Some("8".to_owned()), Some("16384".to_owned())]
    );
    let absent = [Name::CpusPerTres, Name::MemPerTres].map(|name| Write { field: FieldNumber::from(name), value: None });
    let mut description = view(&mut job);
    Writes::prepare(&description, absent).unwrap().apply(&mut description);
    assert_eq!(read(&mut job, Name::CpusPerGpu), None);
    assert_eq!(["SLURM_CPUS_PER_GPU", "SLURM_MEM_PER_GPU", "HOME"].map(|name| job.variable(name)), [None, None, Some("/root".to_owned())]);
    free_texts(&mut job);
}

#[test]
fn variables_of_the_environment_are_set_added_and_taken_out_each_once() {
    with_slurm();
    let mut job = Description::batch(1, 1);
    job.free_environment();
    job.environment(&["A=1", "B=2", "A=3", "AB=4", "B=5"]);
    let entries = ["A=x=y", "B", "NEW=", "C"].map(|entry| (Name::Environment, Value::Text(entry)));
    write(&mut job, &entries).unwrap();
    assert_eq!(
        ["A", "B", "AB", "NEW", "C"].map(|name| job.variable(name)),
        [Some("x=y"), None, Some("4"), Some(""), None].map(|value| value.map(str::to_owned))
    );
    assert_eq!((job.0.env_size, read(&mut job, Name::EnvSize).as_deref()), (3, Some("3")));
    // A job of salloc has no environment here, and gets none.
    let mut other = Description::unset();
    write(&mut other, &[(Name::Environment, Value::Text("A=1"))]).unwrap();
    assert_eq!(other.0.env_size, Description::unset().0.env_size);
}

/// The table of docs/rule-fields.md says of each field whether it can be written and cleared, and
/// is compared with [`FIELDS`] where rules are compiled.
#[test]
fn each_field_is_written_and_cleared_as_its_description_says() {
    with_slurm();
    for (field, name) in FIELDS.iter().zip(Name::ALL).filter(|(_, name)| is_known(**name)) {
        let mut job = Description::batch(1, 1);
        let value = match field.kind {
            Kind::Truth => Value::Truth(true),
            Kind::Integer => Value::Integer(1),
            Kind::Duration => Value::Duration(Seconds(600)),
            Kind::Moment => Value::Moment(UnixTime(1_900_000_000)),
            Kind::Texts => Value::Texts(Texts::Separated(field.words.first().copied().unwrap_or("x"), ',')),
            Kind::Variables => Value::Text("A=1"),
            _ => Value::Text(field.words.first().copied().unwrap_or("x")),
        };
        let is_written = write(&mut job, &[(*name, value)]).is_ok();
        assert_eq!(is_written, field.is_writable, "{}", field.name);
        let absent = Write { field: FieldNumber::from(*name), value: None };
        let is_cleared = Writes::prepare(&view(&mut job), [absent]).is_ok();
        assert_eq!(is_cleared, field.is_writable && field.may_be_absent, "{}", field.name);
        free_texts(&mut job);
    }
}

#[test]
fn several_qualities_of_service_are_read_one_by_one() {
    with_slurm();
    let mut job = Description::batch(1, 1);
    assert_eq!(read(&mut job, Name::QosNames).as_deref(), Some(""));
    for (qos, names) in [("normal", "normal"), ("normal,express", "normal|express"), (",normal,", "normal")] {
        write(&mut job, &[(Name::Qos, Value::Text(qos))]).unwrap();
        assert_eq!(read(&mut job, Name::QosNames).as_deref(), Some(names));
    }
    free_texts(&mut job);
}

#[test]
fn rules_can_refuse_with_every_error_of_this_slurm() {
    let unknown: Vec<&str> = slurm_sys::error_number::names().filter(|name| !SLURM_ERRORS.contains(name)).collect();
    assert_eq!(unknown, Vec::<&str>::new());
}

#[test]
fn what_hangs_on_a_field_is_written_with_it() {
    with_slurm();
    let mut job = Description::batch(4, 8);
    job.free_environment();
    job.environment(&["SLURM_NTASKS=8", "SLURM_NPROCS=8", "SLURM_CPUS_PER_TASK=2", "SLURM_MEM_PER_CPU=5", "HOME=/root"]);
    (job.0.cpus_per_task, job.0.min_cpus, job.0.pn_min_cpus, job.0.time_min) = (2, 16, 2, 50);
    write(
        &mut job,
        &[
            (Name::MaxNodes, Value::Integer(2)),
            (Name::NumTasks, Value::Integer(4)),
            (Name::CpusPerTask, Value::Integer(3)),
            (Name::TimeLimit, Value::Duration(Seconds(1200))),
            (Name::MemoryPerNode, Value::Integer(1 << 30)),
        ],
    )
    .unwrap();
    let d = &job.0;
    assert_eq!((d.min_nodes, d.max_nodes, d.num_tasks, d.min_cpus, d.pn_min_cpus, d.time_min), (2, 2, 4, 12, 3, 20));
    let variables = ["SLURM_NTASKS", "SLURM_NPROCS", "SLURM_CPUS_PER_TASK", "SLURM_MEM_PER_NODE", "SLURM_MEM_PER_CPU", "HOME"];
    let read = variables.map(|name| job.variable(name));
    assert_eq!(read, ["4", "4", "3", "1024", "", "/root"].map(|value| (!value.is_empty()).then(|| value.to_owned())));
}

#[test]
fn a_value_that_cannot_be_written_leaves_the_job_as_it_was() {
    with_slurm();
    for (name, value, expected) in [
        (Name::UserId, Value::Integer(0), WriteError::NotWritable("user_id")),
        (Name::Gpus, Value::Integer(0), WriteError::NotWritable("gpus")),
        (Name::Shared, Value::Text("nobody"), WriteError::WrongValue("shared")),
        (Name::Partition, Value::Integer(1), WriteError::WrongValue("partition")),
        (Name::TimeLimit, Value::Texts(Texts::Separated("", ',')), WriteError::WrongValue("time_limit")),
    ] {
        let mut job = Description::batch(2, 8);
        assert_eq!(write(&mut job, &[(Name::Account, Value::Text("physics")), (name, value)]), Err(expected));
        assert!(job.0.account.is_null());
        assert_eq!(expected.to_string().lines().count(), 1);
    }
    assert!(is_known(Name::Partition));
}

#[test]
fn a_text_is_taken_out_by_an_empty_one() {
    with_slurm();
    let mut job = Description::batch(2, 8);
    write(&mut job, &[(Name::Comment, Value::Text("x"))]).unwrap();
    write(&mut job, &[(Name::Comment, Value::Text(""))]).unwrap();
    assert!(job.0.comment.is_null());
}

#[test]
fn a_field_that_is_made_absent_is_as_if_nobody_had_said_anything() {
    with_slurm();
    let bytes = |job: &Description| {
        // SAFETY: a job description is as many bytes as its size, and the library has cleared those
        // between its fields.
        unsafe { std::slice::from_raw_parts((&raw const *job.0).cast::<u8>(), size_of_val(&*job.0)) }.to_vec()
    };
    for (field, name) in FIELDS.iter().zip(Name::ALL).filter(|(field, name)| field.is_writable && field.may_be_absent && is_known(**name)) {
        let mut job = Description::unset();
        let value = match field.kind {
            Kind::Truth => Value::Truth(true),
            Kind::Integer => Value::Integer(1 << 30),
            Kind::Duration => Value::Duration(Seconds(600)),
            Kind::Moment => Value::Moment(UnixTime(1_900_000_000)),
            _ => Value::Text(field.words.first().copied().unwrap_or("x")),
        };
        write(&mut job, &[(*name, value)]).unwrap();
        assert!(bytes(&job) != bytes(&Description::unset()), "{} was not written", field.name);
        let mut description = view(&mut job);
        let absent = Write { field: FieldNumber::from(*name), value: None };
        Writes::prepare(&description, [absent]).unwrap().apply(&mut description);
        assert!(bytes(&job) == bytes(&Description::unset()), "{} is still there", field.name);
    }
    let mut job = Description::unset();
    let absent = Write { field: FieldNumber::from(Name::Contiguous), value: None };
    assert_eq!(Writes::prepare(&view(&mut job), [absent]).unwrap_err(), WriteError::WrongValue("contiguous"));
}

fn any_number() -> impl Strategy<Value = u64> {
    prop_oneof![
        any::<u64>(),
        Just(u64::MAX),
        Just(u64::MAX - 1),
        Just(u64::from(NO_VAL)),
        Just(u64::from(INFINITE)),
        Just(0xfffe),
        Just(0xffff),
        Just(0xfe),
        0_u64..4,
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]
    #[test]
    fn whatever_bytes_and_numbers_stand_in_it_all_fields_of_a_job_are_read(
        numbers in prop::collection::vec(any_number(), 1..60),
        bytes in prop_oneof![
            prop::collection::vec(1_u8.., 0..40),
            "(gres[:/])?gpu[:=][a-z0-9]{0,4}[:=(,]?[0-9kP-]{0,21}(,gres/gpu:x:[0-9]{1,20})*".prop_map(String::into_bytes),
            "\\[?[0-9]{0,20}-[0-9]{0,20}[:%]?[0-9]{0,20}\\]?".prop_map(String::into_bytes),
        ],
    ) {
        with_slurm();
        let mut job = Description::unset();
        fill(&mut job, &[], &bytes);
        fill_raw(&mut job, &numbers);
        job.environment(&[&format!("A={}", "x".repeat(bytes.len()))]);
        // SAFETY: the environment has one entry, which ends with as many letters as bytes.
        overwrite(unsafe { (*job.0.environment).add(2) }, &bytes);
        {
            let description = view(&mut job);
            let fields = JobFields::from(&description);
            for name in Name::ALL {
                if let Some(value) = fields.field(FieldNumber::from(*name)) {
                    let _ = value.to_string();
                }
            }
            for number in NumberField::ALL {
                if let Some(value) = description.number(*number) {
                    let marks = [u64::from(NO_VAL), u64::from(INFINITE)];
                    // Where 64 bits are kept these are numbers.
                    prop_assert!(*number == NumberField::Bitflags || !marks.contains(&value.unsigned_abs()), "{:?} is {}", number, value);
                }
            }
            prop_assert!(fields.variable("A").is_some());
        }
        // With a list of arguments whose length is a lie there would be nothing to hold on to.
        job.0.argc = 0;
        free_texts(&mut job);
    }
}
