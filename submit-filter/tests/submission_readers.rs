//! What decisions are about is the same whether it is read of a job description or of the command
//! line by which a job is submitted.
#![allow(unsafe_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::hostile::{free_texts, view};
use common::{Description, Plugin};
use job_submit_queuecast::fields::{DirectFields, JobFields, Writes, is_known};
use job_types::number::UserId;
use job_types::options::UserOptions;
use job_types::time::UnixTime;
use made_up_site::USER;
use rules_compiler::command_line::{self, Setting};
use rules_compiler::described::DescribedJob;
use site_rules::field::{FIELDS, FieldNumber, Fields, Name};
use site_rules::overlay::Write;
use site_rules::value::Value;
use slurm_sys::bindings::INFINITE;
use slurm_sys::job_fields::{AskedMemory, TextField};
use slurm_sys::text::SlurmText;
use std::collections::BTreeMap;

/// Options of sbatch, each of which says something that decisions see.
const OPTIONS: &[&str] = &[
    "",
    "-p batch -A physics --qos=high -t 90 --time-min=30",
    "-p batch,long -t UNLIMITED",
    "-N2",
    "-N2-4 -n8 -c2",
    "-N2 --ntasks-per-node=4",
    "-N1-2 --ntasks-per-node=4 -c2",
    "-n7 --ntasks-per-node=2",
    "-n4 --mem-per-cpu=2G --tmp=10G --mincpus=2",
    "-n4 -c2 --mincpus=2",
    "--mem=1536M --exclusive",
    "--mem=0 --exclusive=user",
    "--gres=gpu:2 -N2",
    "-G2 --cpus-per-gpu=2 --mem-per-gpu=1G",
    "--gpus-per-task=1 -n2",
    "--gpus-per-socket=1 --sockets-per-node=2 -N2",
    "--tres-per-task=cpu=3 -n2",
    "--tres-per-task=cpu=2,gres/gpu:v100=1 -N2 -n4",
    "-a 0-9%2 -H",
    "--priority=5",
    "-d singleton",
    "-C fast",
    "-C fast*2 -N2",
    "-L matlab:2",
    "--begin=2035-01-01 --deadline=2036-01-01",
    "--cluster-constraint=fast",
    "-w n[1-2]",
    "-x n3",
    "--contiguous",
    "--switches=1@10",
    "-B 1:2:1 -N1",
    "--threads-per-core=2",
    "--reservation=maintenance",
];

fn described(options: &str) -> DescribedJob {
    let setting = Setting {
        release: "24.11".parse().unwrap(),
        now: UnixTime(1_700_000_000),
        zone: jiff::tz::TimeZone::UTC,
        user: UserId(USER),
        directory: "/home/user".to_owned(),
        environment: BTreeMap::new(),
    };
    command_line::parse(&format!("sbatch {options} --wrap true"), &setting, |_| None).unwrap()
}

/// The job as it stands in a job description.
fn in_slurm(job: &DescribedJob) -> Description {
    let mut filled = Description::unset();
    filled.0.user_id = USER;
    if let Some(Value::Truth(true)) = job.field(FieldNumber::from(Name::TimeLimitIsUnlimited)) {
        filled.0.time_limit = INFINITE;
    }
    let mut description = view(&mut filled);
    if let Some(Value::Truth(true)) = job.field(FieldNumber::from(Name::MemIsZero)) {
        description.set_memory(Some(AskedMemory::Whole));
    }
    description.set_text(TextField::Script, SlurmText::new("#!/bin/sh\n"));
    let is_written = |name: &Name| *name != Name::Environment && FIELDS[*name as usize].is_writable && is_known(*name);
    let written = Name::ALL.iter().copied().filter(is_written).filter_map(|name| {
        let field = FieldNumber::from(name);
        Some(Write { field, value: Some(job.field(field)?) })
    });
    Writes::prepare(&description, written).unwrap().apply(&mut description);
    filled
}

#[test]
fn a_job_description_and_a_command_line_are_read_as_the_same_submission() {
    std::mem::forget(Plugin::open());
    for options in OPTIONS {
        let job = described(options);
        let of_command_line = format!("{:?}", submission_reader::submission(&job, UserOptions::default()));
        let mut filled = in_slurm(&job);
        let description = view(&mut filled);
        let (kept, direct) = (JobFields::from(&description), DirectFields::from(&description));
        for fields in [&kept as &dyn Fields, &direct] {
            assert_eq!(format!("{:?}", submission_reader::submission(fields, UserOptions::default())), of_command_line, "{options}");
        }
        drop(kept);
        free_texts(&mut filled);
    }
}
