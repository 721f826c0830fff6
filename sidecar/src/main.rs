//! queuecastd: accounting records in, snapshots out.
//!
//! Threads, each with its own file:
//!
//! * [`accounting`] reads ended jobs from slurmdbd,
//! * [`controller`] reads the queue and the partitions from slurmctld; both may block while their
//!   source is away,
//! * [`queue_reader`] reads jobs for them in a process of its own, whose memory goes with it,
//! * [`learner`] learns from the records and the queue how long jobs wait, with a thread of its own
//!   for training,
//! * [`plan`] says when the pending jobs will start,
//! * [`rules`] compiles the site's own rules and puts them in force,
//! * [`site_data`] keeps for the rules what is known of users and jobs, with a thread of its own
//!   that asks for UNIX groups,
//! * [`changes`] changes jobs that carry reservations, as the forecasts change,
//! * [`daemon`], on the main thread, keeps the history, fits the forecasts and publishes, whatever
//!   the sources do,
//! * [`kept`] holds what was learnt over a restart,
//! * [`metrics`] answers Prometheus, [`signals`] waits for signals.
//!
//! They talk through bounded channels: a reader that is faster than the fitting waits for it, and
//! nothing piles up.

mod accounting;
mod admitted;
mod answers;
mod awaited;
mod change_metrics;
mod changes;
mod clock;
mod cluster;
mod controller;
mod daemon;
mod damaged;
mod deadline_metrics;
mod descriptor_reserve;
mod failure;
mod filter_counters;
mod genuine;
mod kept;
mod kept_sums;
mod learner;
mod limits;
mod logging;
mod looked_at_rules;
mod message;
mod metrics;
mod metrics_listener;
mod named_partitions;
mod names;
mod notification;
mod plan;
mod privacy;
mod promise_metrics;
mod promised;
mod publisher;
mod queue_reader;
mod refusals;
mod reserved;
mod rule_counters;
mod rule_metrics;
mod rules;
mod seen;
mod set_aside;
mod settings;
mod shared_memory;
mod shared_nodes;
mod signals;
mod site_data;
mod site_tables;
mod state_directory;
mod submissions;

use std::process::ExitCode;

use clap::Parser;
use daemon_arguments::Arguments;
use rules_compiler::files::{compile_files, of_site};
use slurm_conf::Configuration;

fn main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|argument| argument == queue_reader::ARGUMENT) {
        return queue_reader::serve();
    }
    let arguments = Arguments::parse();
    let path = Configuration::path();
    if arguments.check {
        return check(&path);
    }
    match daemon::run(&arguments, path) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("queuecastd: {failure}");
            failure.exit_code()
        }
    }
}

/// Says whether the configuration and the site's own rules are good.
fn check(path: &std::path::Path) -> ExitCode {
    if let Err(error) = Configuration::load(path) {
        eprintln!("queuecastd: {error}");
        return ExitCode::FAILURE;
    }
    println!("{}: good", path.display());
    let files = match of_site(path) {
        Ok(files) => files,
        Err(error) => {
            eprintln!("queuecastd: the rules beside {} can't be read: {error}", path.display());
            return ExitCode::FAILURE;
        }
    };
    let compiled = compile_files(&files, path);
    for problem in &compiled.problems {
        eprintln!("queuecastd: {problem}");
    }
    match compiled.rules {
        Some(rules) if rules.rules.is_empty() => ExitCode::SUCCESS,
        Some(rules) => {
            println!("{} rules: good", rules.rules.len());
            ExitCode::SUCCESS
        }
        None => ExitCode::FAILURE,
    }
}
