//! The benchmarks of whole clusters, and of the commands that replay workload logs.
//!
//! Each `ci/bench-*` builds this program and runs one of its commands.

mod daemon;
mod daemon_log;
mod deadlines;
mod evaluated;
mod failure;
mod forecasts;
mod format;
mod log;
mod molding;
mod page;
mod placement;
mod private_cluster;
mod replays;
mod reservations;
mod rules;
mod sdiag;
mod signals;
mod simulator;
mod slots;
mod statistics;
mod submissions;
mod submit;
mod swf;
mod waiting_jobs;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::failure::{Outcome, WrongUsage};
use crate::signals::Interrupted;

/// Measure queuecast, and check that what is measured is what it is said to be.
#[derive(Debug, Parser)]
struct Arguments {
    /// Take the programs that are built already (cargo build --release).
    // The script that runs this program reads it.
    #[arg(long, global = true)]
    no_build: bool,

    #[command(subcommand)]
    benchmark: Benchmark,
}

#[derive(Debug, Subcommand)]
enum Benchmark {
    Daemon(daemon::Arguments),
    Deadlines(deadlines::Arguments),
    Forecasts(forecasts::Arguments),
    Molding(molding::Arguments),
    Placement(placement::Arguments),
    Reservations(reservations::Arguments),
    Rules(rules::Arguments),
    Simulator(simulator::Arguments),
    Slots(slots::Arguments),
    Submit(submit::Arguments),
    #[command(hide = true)]
    Resident(simulator::Resident),
}

impl Benchmark {
    /// The name of the script that runs it.
    fn script(&self) -> &'static str {
        match self {
            Benchmark::Daemon(_) => daemon::SCRIPT,
            Benchmark::Deadlines(_) => deadlines::SCRIPT,
            Benchmark::Forecasts(_) => "ci/bench-forecasts",
            Benchmark::Molding(_) => molding::SCRIPT,
            Benchmark::Placement(_) => placement::SCRIPT,
            Benchmark::Reservations(_) => reservations::SCRIPT,
            Benchmark::Rules(_) => rules::SCRIPT,
            Benchmark::Simulator(_) | Benchmark::Resident(_) => "ci/bench-simulator",
            Benchmark::Slots(_) => slots::SCRIPT,
            Benchmark::Submit(_) => submit::SCRIPT,
        }
    }

    fn run(&self) -> Outcome {
        match self {
            Benchmark::Daemon(arguments) => daemon::run(arguments),
            Benchmark::Deadlines(arguments) => deadlines::run(arguments),
            Benchmark::Forecasts(arguments) => forecasts::run(arguments),
            Benchmark::Molding(arguments) => molding::run(arguments),
            Benchmark::Placement(arguments) => placement::run(arguments),
            Benchmark::Reservations(arguments) => reservations::run(arguments),
            Benchmark::Rules(arguments) => rules::run(arguments),
            Benchmark::Simulator(arguments) => simulator::run(arguments),
            Benchmark::Slots(arguments) => slots::run(arguments),
            Benchmark::Submit(arguments) => submit::run(arguments),
            Benchmark::Resident(arguments) => arguments.run(),
        }
    }
}

fn main() -> ExitCode {
    let benchmark = Arguments::parse().benchmark;
    // What the tests share fails by panicking. What it made is taken away as the panic unwinds.
    let Ok(outcome) = catch_unwind(AssertUnwindSafe(|| benchmark.run())) else { return ExitCode::FAILURE };
    let script = benchmark.script();
    match outcome {
        Ok(missed) => {
            for target in &missed {
                eprintln!("{script}: {target}");
            }
            if missed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(error) => {
            eprintln!("{script}: {error:#}");
            match error.downcast_ref::<Interrupted>() {
                Some(interrupted) => interrupted.exit_code(),
                None if error.is::<WrongUsage>() => ExitCode::from(2),
                None => ExitCode::FAILURE,
            }
        }
    }
}
