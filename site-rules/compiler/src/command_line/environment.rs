//! The variables in whose place options can stand (`env_vars` in src/sbatch/opt.c).

use super::Release;
use super::given::{Given, Origin};
use super::known::{Program, Says, Takes};
use site_rules::field::Name;
use std::collections::BTreeMap;

/// The variables with their options, in the order in which sbatch takes them.
const VARIABLES: &[(&str, &str)] = &[
    ("SBATCH_IGNORE_PBS", "ignore-pbs"),
    ("SBATCH_DEBUG", "verbose"),
    ("SBATCH_ACCOUNT", "account"),
    ("SBATCH_ARRAY_INX", "array"),
    ("SBATCH_ACCTG_FREQ", "acctg-freq"),
    ("SBATCH_BATCH", "batch"),
    ("SBATCH_BURST_BUFFER", "bb"),
    ("SBATCH_CLUSTER_CONSTRAINT", "cluster-constraint"),
    ("SBATCH_CLUSTERS", "clusters"),
    ("SLURM_CLUSTERS", "clusters"),
    ("SBATCH_CONSOLIDATE_SEGMENTS", "consolidate-segments"),
    ("SBATCH_CONTAINER", "container"),
    ("SBATCH_CONTAINER_ID", "container-id"),
    ("SBATCH_CONTAINER_TYPE", "container-type"),
    ("SBATCH_CONSTRAINT", "constraint"),
    ("SBATCH_CORE_SPEC", "core-spec"),
    ("SBATCH_CPU_FREQ_REQ", "cpu-freq"),
    ("SBATCH_CPUS_PER_GPU", "cpus-per-gpu"),
    ("SBATCH_DELAY_BOOT", "delay-boot"),
    ("SBATCH_DISTRIBUTION", "distribution"),
    ("SBATCH_EXCLUSIVE", "exclusive"),
    ("SBATCH_EXPORT", "export"),
    ("SBATCH_GET_USER_ENV", "get-user-env"),
    ("SBATCH_GRES", "gres"),
    ("SBATCH_GRES_FLAGS", "gres-flags"),
    ("SBATCH_GPUS", "gpus"),
    ("SBATCH_GPU_BIND", "gpu-bind"),
    ("SBATCH_GPU_FREQ", "gpu-freq"),
    ("SBATCH_GPUS_PER_NODE", "gpus-per-node"),
    ("SBATCH_GPUS_PER_SOCKET", "gpus-per-socket"),
    ("SBATCH_GPUS_PER_TASK", "gpus-per-task"),
    ("SLURM_HINT", "hint"),
    ("SBATCH_HINT", "hint"),
    ("SBATCH_JOB_NAME", "job-name"),
    ("SBATCH_MEM_BIND", "mem-bind"),
    ("SBATCH_MEM_PER_CPU", "mem-per-cpu"),
    ("SBATCH_MEM_PER_GPU", "mem-per-gpu"),
    ("SBATCH_MEM_PER_NODE", "mem"),
    ("SBATCH_NETWORK", "network"),
    ("SBATCH_NO_KILL", "no-kill"),
    ("SBATCH_NO_REQUEUE", "no-requeue"),
    ("SBATCH_OPEN_MODE", "open-mode"),
    ("SBATCH_OVERCOMMIT", "overcommit"),
    ("SBATCH_PARTITION", "partition"),
    ("SBATCH_POWER", "power"),
    ("SBATCH_PROFILE", "profile"),
    ("SBATCH_QOS", "qos"),
    ("SBATCH_REQ_SWITCH", "switches"),
    ("SBATCH_REQUEUE", "requeue"),
    ("SBATCH_RESERVATION", "reservation"),
    ("SBATCH_SEGMENT_SIZE", "segment"),
    ("SBATCH_SIGNAL", "signal"),
    ("SBATCH_SPREAD_JOB", "spread-job"),
    ("SBATCH_SPREAD_SEGMENTS", "spread-segments"),
    ("SBATCH_THREAD_SPEC", "thread-spec"),
    ("SBATCH_THREADS_PER_CORE", "threads-per-core"),
    ("SBATCH_TIMELIMIT", "time"),
    ("SBATCH_TRES_BIND", "tres-bind"),
    ("SBATCH_TRES_PER_TASK", "tres-per-task"),
    ("SBATCH_USE_MIN_NODES", "use-min-nodes"),
    ("SBATCH_WAIT", "wait"),
    ("SBATCH_WAIT_ALL_NODES", "wait-all-nodes"),
    ("SBATCH_WAIT4SWITCH", WAIT_FOR_SWITCH),
    ("SBATCH_WCKEY", "wckey"),
    ("SBATCH_ERROR", "error"),
    ("SBATCH_INPUT", "input"),
    ("SBATCH_OUTPUT", "output"),
];

/// What only the environment can say.
const WAIT_FOR_SWITCH: &str = "switch-wait";

/// Adds the options of an environment to those that the script gives.
pub(super) fn add(environment: &BTreeMap<String, String>, release: Release, given: &mut Vec<Given>) {
    for (variable, name) in VARIABLES {
        let Some(value) = environment.get(*variable) else { continue };
        let known = Program::Sbatch.options(release).find(|known| known.name == *name);
        if known.is_none() && *name != WAIT_FOR_SWITCH {
            // A release passes over the variables of others.
            continue;
        }
        let takes = known.map_or(Takes::Value, |known| known.takes);
        let value = match takes {
            Takes::Nothing if !is_on(value) => {
                given.retain(|given| given.name != *name);
                continue;
            }
            Takes::Nothing => None,
            Takes::Perhaps => Some(value.clone()).filter(|value| !value.is_empty()),
            Takes::Value => Some(value.clone()),
        };
        let says = known.map_or(Says::Time(Name::Wait4switch), |known| known.says);
        let origin = Origin::Environment(variable);
        given.push(Given { name: (*name).to_owned(), written: format!("--{name}"), value, origin, says: Some(says) });
    }
}

/// Whether a variable sets a flag: it is empty, `yes`, or a number that is not zero
/// (`slurm_process_option` in src/common/slurm_opt.c).
fn is_on(value: &str) -> bool {
    value.is_empty() || value.eq_ignore_ascii_case("yes") || value.trim_start().parse::<i64>().is_ok_and(|number| number != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command_line::known::KNOWN;

    #[test]
    fn each_variable_stands_in_the_place_of_an_option() {
        for (variable, name) in VARIABLES {
            assert!(*name == WAIT_FOR_SWITCH || KNOWN.iter().any(|known| known.name == *name), "{variable}");
        }
    }

    #[test]
    fn a_flag_is_set_by_an_empty_variable_yes_or_a_number_but_zero() {
        assert!(["", "yes", "YES", "1", "-1"].into_iter().all(is_on));
        assert!(!["0", "no", "true", "1x"].into_iter().any(is_on));
    }
}
