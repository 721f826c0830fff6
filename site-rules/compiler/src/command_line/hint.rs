//! What `--hint` says of the shape of nodes and tasks (`validate_hint_option` in
//! src/common/slurm_opt.c, `verify_hint` in src/common/proc_args.c).

use super::given::{Given, Origin};
use super::job::Job;
use site_rules::data::OwnedValue;
use site_rules::field::Name;

/// The options that a hint excludes, with the fields that they say.
const EXCLUDED: &[(&str, &[Name])] = &[
    ("ntasks-per-core", &[Name::NtasksPerCore]),
    ("threads-per-core", &[Name::ThreadsPerCore]),
    ("extra-node-info", &[Name::SocketsPerNode, Name::CoresPerSocket, Name::ThreadsPerCore]),
];

/// The options that a hint excludes beside these since 25.11.
const EXCLUDED_SINCE_25_11: &[(&str, &[Name])] =
    &[("cores-per-socket", &[Name::CoresPerSocket]), ("sockets-per-node", &[Name::SocketsPerNode])];

/// Takes the hint among the options that were given, where it counts beside the others.
///
/// # Errors
/// What the option takes, where it does not take its value.
pub(super) fn take(given: &[Given], job: &mut Job<'_>) -> Result<(), String> {
    let Some(hint) = given.iter().rev().find(|given| given.name == "hint") else { return Ok(()) };
    let later = if job.release().is_since(25, 11) { EXCLUDED_SINCE_25_11 } else { &[] };
    let excluded = || EXCLUDED.iter().chain(later);
    let is_of_environment = |given: &Given| matches!(given.origin, Origin::Environment(_));
    // Here the last one counts, because the environment stands over the script for sbatch.
    let excluding =
        |wanted: bool| given.iter().any(|given| excluded().any(|(name, _)| given.name == *name) && is_of_environment(given) == wanted);
    match (is_of_environment(hint), excluding(false), excluding(true)) {
        (false, true, _) | (true, true, _) | (true, _, true) => return Ok(()),
        (false, false, true) => {
            for name in excluded().flat_map(|(_, names)| *names) {
                job.unset(*name);
            }
        }
        (_, false, false) => {}
    }
    for word in hint.value.as_deref().unwrap_or_default().split(',') {
        match word.to_ascii_lowercase().as_str() {
            "compute_bound" => {
                job.unset(Name::SocketsPerNode);
                job.unset(Name::CoresPerSocket);
                job.set(Name::ThreadsPerCore, OwnedValue::Integer(1));
            }
            "memory_bound" => {
                job.set(Name::CoresPerSocket, OwnedValue::Integer(1));
                job.set(Name::ThreadsPerCore, OwnedValue::Integer(1));
            }
            "multithread" => {
                job.unset(Name::ThreadsPerCore);
                // sbatch sends that as many as fit may run on a core, which is no number.
                job.unset(Name::NtasksPerCore);
            }
            "nomultithread" => job.set(Name::ThreadsPerCore, OwnedValue::Integer(1)),
            _ => return Err("it takes compute_bound, memory_bound, multithread or nomultithread".to_owned()),
        }
    }
    Ok(())
}
