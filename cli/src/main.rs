//! queuecast: status, predict, explain, import-swf.

mod failure;
mod import_swf;

use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};

/// Forecasts of a Slurm queue, and what is made of them.
///
/// Exit status: 0 done; 1 the answer is no (refused, or a check failed); 2 wrong usage or unreadable input.
#[derive(Debug, Parser)]
#[command(name = "queuecast", version, max_term_width = 110)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    #[command(name = "import-swf")]
    ImportSwf(import_swf::Arguments),
}

/// How a report is written to standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum Format {
    /// Lines for people.
    #[default]
    Text,
    /// One JSON object.
    Json,
}

fn main() -> ExitCode {
    let outcome = match CommandLine::parse().command {
        Command::ImportSwf(arguments) => import_swf::run(&arguments),
    };
    outcome.map_or_else(|failure| failure.report(), |()| ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        super::CommandLine::command().debug_assert();
    }
}
