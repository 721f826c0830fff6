//! What each option of sbatch means for a forecast.

use rules_compiler::command_line::{Release, sbatch_options};

/// What an option of sbatch means for a forecast.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    /// The forecast counts it.
    Counted,
    /// The filter may go by it, but the forecast does not count all that it asks for.
    NotCounted(NotCounted),
    /// It changes nothing of what is forecast.
    Nothing,
    /// It can't be read here, for a reason.
    Refused(&'static str),
    /// It has sbatch print something and end.
    Ends,
}

/// What a forecast does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum NotCounted {
    /// The job can't use every node.
    Nodes,
    /// Licences or burst buffers have to be free for the job.
    Supplies,
    /// The job gets another place in the queue than usual.
    Place,
    /// Something keeps the job from being eligible.
    Dependency,
    /// The job is held.
    Held,
    /// The job runs inside a reservation of Slurm's.
    Reservation,
    /// There are several such jobs.
    Array,
    /// Nodes have to boot.
    Boot,
}

impl NotCounted {
    /// What is to be known of a job with such an option.
    pub(super) fn remark(self) -> &'static str {
        match self {
            Self::Nodes => "forecasts count nodes, CPUs and time limit: where few nodes have what is asked for, the job waits longer",
            Self::Supplies => "whether it is free is not known here: the job may wait longer",
            Self::Place => "the place in the queue that this gives is not counted",
            Self::Dependency => "the wait is counted as if nothing had to end before",
            Self::Held => "the wait is counted from the release",
            Self::Reservation => "waits inside a reservation of Slurm's are not forecast: this is the wait outside of it",
            Self::Array => "the forecast is of one job of the array by itself",
            Self::Boot => "the time that nodes take to boot is not counted",
        }
    }
}

/// What an option of sbatch means for a forecast, by its long name.
pub(super) fn effect(name: &str) -> Effect {
    match name {
        "account" | "begin" | "cluster" | "cluster-constraint" | "clusters" | "cpus-per-task" | "deadline" | "exclusive" | "nodes"
        | "ntasks" | "ntasks-per-node" | "overcommit" | "partition" | "qos" | "tasks-per-node" | "time" | "time-min" => Effect::Counted,
        "batch"
        | "consolidate-segments"
        | "constraint"
        | "contiguous"
        | "core-spec"
        | "cores-per-socket"
        | "cpus-per-gpu"
        | "exclude"
        | "extra-node-info"
        | "gpus"
        | "gpus-per-node"
        | "gpus-per-socket"
        | "gpus-per-task"
        | "gres"
        | "gres-flags"
        | "hint"
        | "mcs-label"
        | "mem"
        | "mem-per-cpu"
        | "mem-per-gpu"
        | "mincpus"
        | "network"
        | "nodelist"
        | "ntasks-per-core"
        | "ntasks-per-gpu"
        | "ntasks-per-socket"
        | "ntasks-per-tres"
        | "power"
        | "resources"
        | "segment"
        | "sockets-per-node"
        | "spread-job"
        | "spread-segments"
        | "switches"
        | "switch-wait"
        | "thread-spec"
        | "threads-per-core"
        | "tmp"
        | "tres-per-task" => Effect::NotCounted(NotCounted::Nodes),
        "bb" | "bbf" | "licenses" => Effect::NotCounted(NotCounted::Supplies),
        "nice" | "priority" => Effect::NotCounted(NotCounted::Place),
        "dependency" => Effect::NotCounted(NotCounted::Dependency),
        "hold" => Effect::NotCounted(NotCounted::Held),
        "reservation" => Effect::NotCounted(NotCounted::Reservation),
        "array" => Effect::NotCounted(NotCounted::Array),
        "delay-boot" | "reboot" => Effect::NotCounted(NotCounted::Boot),
        "nodefile" => Effect::Refused("the file is not read here; name its nodes by --nodelist"),
        "uid" => Effect::Refused("whose job it is, --user says here"),
        "autocomplete" | "help" | "usage" | "version" => Effect::Ends,
        "acctg-freq"
        | "chdir"
        | "comment"
        | "container"
        | "container-id"
        | "container-type"
        | "context"
        | "cpu-freq"
        | "distribution"
        | "error"
        | "export"
        | "export-file"
        | "external"
        | "extra"
        | "get-user-env"
        | "gid"
        | "gpu-bind"
        | "gpu-freq"
        | "ignore-pbs"
        | "input"
        | "job-name"
        | "kill-on-invalid-dep"
        | "mail-type"
        | "mail-user"
        | "mem-bind"
        | "mem-update"
        | "no-kill"
        | "no-requeue"
        | "oom-kill-step"
        | "open-mode"
        | "output"
        | "oversubscribe"
        | "parsable"
        | "prefer"
        | "profile"
        | "propagate"
        | "quiet"
        | "requeue"
        | "resv-ports"
        | "signal"
        | "stepmgr"
        | "test-only"
        | "tres-bind"
        | "use-min-nodes"
        | "verbose"
        | "wait"
        | "wait-all-nodes"
        | "wckey"
        | "wrap" => Effect::Nothing,
        _ => Effect::Refused("it is not known here what it means for a forecast"),
    }
}

/// The options that are read and change nothing of what is forecast, and those whose demands are
/// not counted, for help texts.
pub(crate) fn in_words() -> String {
    let mut groups: [(&str, Vec<&str>); 2] = [
        ("Options of sbatch that are told as not counted in full", Vec::new()),
        ("Options of sbatch that change nothing of the forecast", Vec::new()),
    ];
    for option in sbatch_options(Release::LAST) {
        match effect(option.name) {
            Effect::NotCounted(_) => groups[0].1.push(option.name),
            Effect::Nothing => groups[1].1.push(option.name),
            Effect::Counted | Effect::Refused(_) | Effect::Ends => {}
        }
    }
    let paragraph = |(heading, names): &(&str, Vec<&str>)| format!("{heading}:\n{}", filled(names));
    groups.iter().map(paragraph).collect::<Vec<_>>().join("\n\n")
}

/// Options in lines of at most 100 columns, separated by blanks.
fn filled(names: &[&str]) -> String {
    const COLUMNS: usize = 100;
    let (mut text, mut line) = (String::new(), String::from(" "));
    for name in names {
        let option = format!(" --{name}");
        if line.len() + option.len() > COLUMNS {
            text = text + &line + "\n";
            line = String::from(" ");
        }
        line += &option;
    }
    text + &line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_known_of_every_option_of_sbatch_what_it_means_for_a_forecast() {
        let reason = effect("no-such-option");
        assert!(matches!(reason, Effect::Refused(_)));
        for option in sbatch_options(Release::LAST) {
            assert_ne!(effect(option.name), reason, "{}", option.name);
        }
    }

    #[test]
    fn help_lists_the_options_in_lines() {
        let text = in_words();
        assert!(text.lines().all(|line| line.len() <= 100), "{text}");
        let (first, second) = text.split_once("\n\n").unwrap();
        assert!(first.contains(" --gres ") && second.contains(" --mail-type ") && !text.contains("--partition"), "{text}");
    }
}
