//! `queuecast doctor`: what is wrong with an installation, and what to do about it.
//!
//! It rests on nothing that may be what is wrong: it reads slurm.conf itself where libslurm can't,
//! reads plugins without loading them, and goes on where slurmctld is down.

mod answer;
mod api;
mod configuration;
mod daemon;
mod file_system;
mod guard;
mod node_list;
mod nodes;
mod permissions;
mod plugins;
mod plugstack;
mod programs;
mod report;
mod role;
mod rules;
mod running;
mod shared_object;
mod slurm;
mod slurm_conf;
mod spank;
mod state_directory;
mod text;
mod versions;

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use ::slurm_conf::duration::HOUR_SECONDS;
use anyhow::anyhow;
use clap::Args;
use command_parts::duration::between;
use command_parts::failure::Failure;
use command_parts::output;
use job_types::time::Seconds;
use slurm_sys::version::Version;
use xxhash_rust::xxh3::xxh3_64;

use self::answer::Answer;
use self::nodes::Way;
use self::plugstack::Plugstack;
use self::programs::Programs;
use self::report::{ConfigurationFile, Report};
use self::role::Role;
use self::slurm::Slurm;
use crate::exit_status::NoSlurmctld;
use crate::installation::{Installation, ReportArguments};

/// Find what is wrong with an installation of queuecast, and say what to do.
///
/// To be run, best as root, before and after an upgrade of Slurm or of queuecast, and whenever
/// queuecast does not do what it should: on the host of slurmctld, on one where users submit, or on
/// a node. It changes nothing, needs no libslurm, and goes on where slurmctld is down.
///
/// Exit status: 0 if nothing failed, though there may be warnings; 1 if something failed, be it
/// that there is no snapshot; 2 for wrong usage; 4 for --nodes ALL where slurmctld does not answer.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// What this host is for [default: controller where slurmctld of this cluster runs, or is
    /// installed and SlurmctldHost is this host; else node where slurmd is installed; else login].
    #[arg(long, value_enum)]
    role: Option<Role>,

    /// Check the plugins against this version of Slurm in the place of the installed one: before
    /// Slurm is upgraded.
    #[arg(long, value_name = "VERSION", value_parser = version)]
    slurm_version: Option<Version>,

    /// Check these nodes as well, such as n[1-16,20], or ALL: `queuecast doctor --role node` is run
    /// on each, at most 16 at a time, and their configuration files are compared with those of this
    /// host.
    #[arg(long, value_name = "NODELIST")]
    nodes: Option<String>,

    /// The command that runs another one on {node}. It is split into words as by a shell, but no
    /// shell runs it.
    #[arg(long, value_name = "COMMAND", default_value = "ssh -o BatchMode=yes {node}", requires = "nodes")]
    through: String,

    /// How long a node may take to answer, up to an hour.
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = between::<1, HOUR_SECONDS>, requires = "nodes")]
    timeout: Seconds,

    #[command(flatten)]
    report: ReportArguments,
}

const EXAMPLES: &str = "\
Examples:
  queuecast doctor
      on the host of slurmctld, before slurmctld is restarted
  queuecast doctor --slurm-version 24.11.5
      whether the plugins that are installed fit the Slurm that is to be installed
  queuecast doctor --nodes n[1-64] > /dev/null || echo 'something is wrong'
  queuecast doctor --nodes ALL --through 'srun --nodelist={node} --nodes=1 --immediate=20'
      through Slurm itself, as root, where ssh does not reach the nodes; one that is fully busy
      gives no answer then
  queuecast doctor --format json | jq -r '.checks[] | select(.outcome == \"failed\").advice'

Keys of --format json:
  role, role_because
                    what the host was taken for (controller, login, node), and why
  host, built_for   the host's name, and the version of Slurm that this build is for
  checked_against   --slurm-version, or null
  failed, warnings, not_checked
                    how many checks ended so
  checks            for each: subject, name, outcome (ok, warning, failed, not_checked), found
                    (what was found, or the reason why nothing could be), advice (what to do,
                    null where all is well)
  files             for each of slurm.conf, plugstack.conf and queuecast.toml that is there:
                    name, path, hash (XXH3-64 of its text and of what it includes)
  nodes             for each of --nodes: node, and checks, those of its checks that were not
                    well; that it did not answer stands in the report's own checks";

/// A version, all three numbers of it.
fn version(text: &str) -> Result<Version, String> {
    Version::find(text).ok_or_else(|| "not a version such as 24.11.5".to_owned())
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let way = Way::new(
        &arguments.through,
        Duration::from_secs(arguments.timeout.0.unsigned_abs()),
        arguments.slurm_version.map(|version| version.to_string()),
    )
    .map_err(Failure::Input)?;
    let report = examine(arguments, &way)?;
    output::print(arguments.report.format, &report, text::text)?;
    Ok(ExitCode::from(u8::from(report.failed > 0)))
}

fn examine(arguments: &Arguments, way: &Way) -> Result<Report, Failure> {
    let installation = arguments.report.installation();
    let host = fs::read_to_string("/proc/sys/kernel/hostname").map(|name| name.trim().to_owned()).unwrap_or_default();
    let programs = Programs::find();
    let slurm = Slurm::read(&programs);
    let slurmctld_process = running::slurmctld(&slurm);
    let (role, role_because) = match arguments.role {
        Some(role) => (role, "as --role says".to_owned()),
        None => role::guess(&slurm.controllers, &programs, &host, slurmctld_process.is_some()),
    };
    // Nodes are many, and slurmctld need not answer each of them.
    let asked = (role != Role::Node).then(|| if slurm.libslurm.is_ok() { answer::ask() } else { Err("libslurm can't be used".to_owned()) });
    let answer = asked.as_ref().and_then(|asked| asked.as_ref().ok());
    let targets = versions::targets(arguments.slurm_version, &programs, &slurm, answer, role);
    let stack = slurm.plugstack.as_deref().map(Plugstack::read);

    let mut report = Report {
        role,
        role_because,
        host,
        built_for: Version::BUILT_FOR.to_string(),
        checked_against: arguments.slurm_version.map(|version| version.to_string()),
        failed: 0,
        warnings: 0,
        not_checked: 0,
        checks: Vec::new(),
        files: files(&slurm, stack.as_ref(), &installation),
        nodes: Vec::new(),
    };
    report.take(versions::check(&programs, &slurm, &targets, slurmctld_process, asked.as_ref(), role));
    if role == Role::Controller {
        report.take(plugins::check(&slurm, targets.slurmctld.as_ref(), slurmctld_process));
    }
    report.take(spank::check(&slurm, stack.as_ref(), targets.spank.as_ref(), role));
    report.take(configuration::check(&installation, &slurm, answer, role));
    if role != Role::Node {
        // Only now: slurmctld may have taken a while to answer.
        let now = output::now();
        let (checks, snapshot) = state_directory::check(&installation, &slurm, role, now);
        report.take(checks);
        report.take(api::check(&installation, role));
        if role == Role::Controller {
            report.take(rules::check(&installation, &slurm, now));
            report.take(daemon::check(&installation, snapshot.as_ref(), now));
            report.take(guard::check(&installation, now));
        }
    }
    if let Some(list) = &arguments.nodes {
        let (checks, nodes) = nodes::check(&nodes_of(list, answer)?, way, &report.files);
        report.take(checks);
        report.nodes = nodes;
    }
    Ok(report)
}

/// The nodes that a list means; `ALL` means those of slurmctld.
fn nodes_of(list: &str, answer: Option<&Answer>) -> Result<Vec<String>, Failure> {
    if !list.eq_ignore_ascii_case("ALL") {
        return node_list::expand(list).map_err(|error| Failure::Input(anyhow!("--nodes: {error}")));
    }
    match answer {
        Some(answer) => Ok(answer.nodes.iter().map(|node| node.name.clone()).collect()),
        None => Err(Failure::Input(anyhow!(NoSlurmctld).context("--nodes ALL (name the nodes, as in n[1-16])"))),
    }
}

/// The configuration files that all hosts should have alike.
fn files(slurm: &Slurm, stack: Option<&Plugstack>, installation: &Installation) -> Vec<ConfigurationFile> {
    let file = |name: &str, path: Option<&Path>, hash: Option<u64>| {
        Some(ConfigurationFile { name: name.to_owned(), path: path?.to_owned(), hash: format!("{:016x}", hash?) })
    };
    let toml = fs::read(&installation.configuration_path).ok().map(|bytes| xxh3_64(&bytes));
    [
        file("slurm.conf", slurm.path.as_deref(), slurm.hash),
        file("plugstack.conf", slurm.plugstack.as_deref(), stack.and_then(|stack| stack.hash)),
        file("queuecast.toml", Some(&installation.configuration_path), toml),
    ]
    .into_iter()
    .flatten()
    .collect()
}
