//! queuecastd: accounting records in, snapshots out.
//!
//! Rooms, in the order in which what is known goes through them:
//!
//! * [`read`]: ended jobs from slurmdbd (`accounting`), and the queue, partitions and limits from
//!   slurmctld (`controller`, which reads jobs through `queue_reader`, a process of its own whose
//!   memory goes with it). Both threads may block while their source is away.
//! * [`known`]: what rooms hand to each other, such as the cluster with its jobs and what was
//!   promised to them, and `checkpoint`, which holds what was learnt over a restart.
//! * [`learn`]: how long jobs wait, learnt from records and queue by a thread with another one for
//!   training.
//! * [`plan`]: when the pending jobs will start.
//! * [`changes`]: changes of jobs that carry reservations or deadlines, as the forecasts change.
//! * [`firm`]: firm slots, which are reserved, moved, attached to their jobs and given back.
//! * [`rules`]: the site's own rules, compiled and put in force, and the tables of users and jobs
//!   that they read (`site_data`, with a thread of its own that asks for UNIX groups).
//! * [`api`]: what users ask over a socket, such as where nodes can be reserved.
//! * [`publish`]: the snapshot, the other files of the state directory, and what is refused.
//! * [`metrics`]: what Prometheus is told.
//!
//! [`daemon`], on the main thread, keeps the history, fits the forecasts and publishes, whatever
//! the sources do; [`signals`] waits for signals. Threads send it [`message`]s through bounded
//! channels: a reader that is faster than the fitting waits for it, and nothing piles up.

mod api;
mod changes;
mod clock;
mod daemon;
mod failure;
mod firm;
mod guard;
mod known;
mod learn;
mod logging;
mod message;
mod metrics;
mod notification;
mod plan;
mod publish;
mod read;
mod rules;
mod settings;
mod signals;
mod worker;

use std::process::ExitCode;

use clap::Parser;
use daemon_arguments::Arguments;
use rules_compiler::files::{compile_files, of_site};
use slurm_conf::Configuration;

fn main() -> ExitCode {
    match std::env::args_os().nth(1) {
        Some(argument) if argument == read::queue_reader::ARGUMENT => return read::queue_reader::serve(),
        Some(argument) if argument == guard::ARGUMENT => return guard::serve(),
        _ => {}
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
