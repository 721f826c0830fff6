//! The checks on other hosts: `queuecast doctor --role node` is run there, and what it finds is
//! shown as one line for each node.

use std::collections::BTreeSet;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{anyhow, ensure};

use super::report::{Check, CheckOutcome, Checks, ConfigurationFile, NodeReport, Report};
use elsewhere::process::{self, Silence};

/// The most commands that run at a time.
const AT_ONCE: usize = 16;

/// What stands for the node in the command that reaches it.
const PLACEHOLDER: &str = "{node}";

/// How a node is reached, and how long it may take.
#[derive(Debug)]
pub(super) struct Way {
    words: Vec<String>,
    limit: Duration,
}

impl Way {
    /// Takes the command that reaches a node apart, as a shell would, and puts behind it what is to
    /// be run there.
    ///
    /// # Errors
    /// Where quotes do not match, or nothing says where the node's name belongs.
    pub(super) fn new(through: &str, limit: Duration, slurm_version: Option<String>) -> anyhow::Result<Self> {
        let mut words = shlex::split(through).ok_or_else(|| anyhow!("--through: the quotes in {through:?} do not match"))?;
        ensure!(
            words.len() > 1 && words.iter().skip(1).any(|word| word.contains(PLACEHOLDER)),
            "--through: {through:?} is no command with {PLACEHOLDER} in the place of the node's name"
        );
        words.extend(["queuecast", "doctor", "--role", "node", "--format", "json"].map(str::to_owned));
        words.extend(slurm_version.into_iter().flat_map(|version| ["--slurm-version".to_owned(), version]));
        Ok(Self { words, limit })
    }

    /// The words of the command for a node; at least the program.
    fn words(&self, node: &str) -> Vec<String> {
        self.words.iter().map(|word| word.replace(PLACEHOLDER, node)).collect()
    }

    /// Asks a node.
    ///
    /// # Errors
    /// In words, where it gave no report.
    fn ask(&self, node: &str) -> Result<Report, String> {
        let words = self.words(node);
        let (program, arguments) = words.split_first().ok_or("no command")?;
        let said = process::run(Command::new(program).args(arguments), self.limit).map_err(|silence| match silence {
            Silence::NotStarted(error) => format!("{program}: {error}"),
            Silence::TooLong(limit) => format!("no answer within {} s", limit.as_secs()),
        })?;
        // A login shell may greet first.
        let report = said.output.lines().find(|line| line.starts_with('{')).and_then(|line| serde_json::from_str(line).ok());
        report.ok_or_else(|| {
            let status = said.status.map_or("ended by a signal".to_owned(), |status| format!("exit status {status}"));
            format!("no report: {} ({status})", said.last_words())
        })
    }
}

/// Asks all nodes, and holds their configuration files against those of this host.
pub(super) fn check(nodes: &[String], way: &Way, own: &[ConfigurationFile]) -> (Checks, Vec<NodeReport>) {
    let mut checks = Checks::of("Nodes");
    let mut reports = Vec::with_capacity(nodes.len());
    for (node, answer) in nodes.iter().zip(ask_all(nodes, way)) {
        let mut unwell = Vec::new();
        match answer {
            Err(reason) => {
                let advice = format!("see what `{}` says; queuecast has to be installed there", way.words(node).join(" "));
                checks.failed(node, reason, advice);
            }
            Ok(report) => {
                unwell = report.checks.into_iter().filter(|check| check.outcome >= CheckOutcome::Warning).collect();
                unwell.extend(differences(own, &report.files));
                one(&mut checks, node, &unwell);
            }
        }
        reports.push(NodeReport { node: node.clone(), checks: unwell });
    }
    (checks, reports)
}

fn ask_all(nodes: &[String], way: &Way) -> Vec<Result<Report, String>> {
    let next = AtomicUsize::new(0);
    let answers = Mutex::new(Vec::with_capacity(nodes.len()));
    thread::scope(|scope| {
        for _ in 0..AT_ONCE.min(nodes.len()) {
            scope.spawn(|| {
                while let Some((place, node)) =
                    Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|place| Some((place, nodes.get(place)?)))
                {
                    let answer = way.ask(node);
                    answers.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((place, answer));
                }
            });
        }
    });
    let mut answers = answers.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    answers.sort_by_key(|(place, _)| *place);
    answers.into_iter().map(|(_, answer)| answer).collect()
}

/// Adds one line for a node.
fn one(checks: &mut Checks, node: &str, unwell: &[Check]) {
    let Some(worst) = unwell.iter().map(|check| check.outcome).max() else {
        return checks.ok(node, "all is well");
    };
    let found = unwell.iter().map(|check| format!("{}, {}: {}", check.subject, check.name, check.found)).collect::<Vec<_>>().join("; ");
    let advice: BTreeSet<&str> = unwell.iter().filter_map(|check| check.advice.as_deref()).collect();
    let advice = format!("there: {}", advice.into_iter().collect::<Vec<_>>().join("; "));
    checks.add(node, worst, found, Some(advice));
}

/// Files that both hosts have, with another text there.
fn differences(own: &[ConfigurationFile], theirs: &[ConfigurationFile]) -> Vec<Check> {
    let mut checks = Checks::of("Configuration");
    for file in theirs {
        if let Some(own) = own.iter().find(|own| own.name == file.name && own.hash != file.hash) {
            let found = format!("{} is not the {} of this host", file.path.display(), own.path.display());
            checks.warning(&file.name, found, format!("install one {} on all hosts", file.name));
        }
    }
    checks.into_list()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_split_into_words_without_a_shell() {
        let way = Way::new("srun --nodelist={node} 'a b;c'", Duration::from_secs(1), None).unwrap();
        let words = way.words("n1");
        assert_eq!(words[..3], ["srun", "--nodelist=n1", "a b;c"]);
        assert_eq!(words[3..].join(" "), "queuecast doctor --role node --format json");
        for through in ["", "ssh node", "{node}", "ssh '{node}"] {
            assert!(Way::new(through, Duration::from_secs(1), None).is_err(), "{through}");
        }
    }
}
