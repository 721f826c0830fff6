//! The guard: whether what it has found can be read, whether its replays give answers, and whether
//! it holds a policy back.

use command_parts::output::moment_and_distance;
use job_types::time::UnixTime;
use simulator::guard::state::{Act, Standing};

use super::report::Checks;
use crate::guard::GuardFile;
use crate::installation::Installation;

/// The checks.
pub(super) fn check(installation: &Installation, now: UnixTime) -> Checks {
    let mut checks = Checks::of("Guard");
    match GuardFile::of(installation) {
        Ok(file) => {
            replays(&mut checks, &file, now);
            policies(&mut checks, &file, now);
        }
        Err(error) => checks.failed(
            "what it found",
            format!("{error}; policies stand as the site has set them, or as the last snapshot has it"),
            "see that the programs are of one release and that only SlurmUser may write there, and restart queuecastd, which keeps a damaged file aside and begins anew",
        ),
    }
    checks
}

/// Whether the last replay gave an answer.
fn replays(checks: &mut Checks, file: &GuardFile, now: UnixTime) {
    const NAME: &str = "replays";
    if file.act == Act::Off {
        return checks.ok(NAME, "switched off ([guard] act)");
    }
    let Some((guard, last_try)) = file.guard.as_ref().and_then(|guard| Some((guard, guard.last_try.as_ref()?))) else {
        return checks.ok(NAME, "none yet");
    };
    let at = moment_and_distance(last_try.at, now);
    match file.failure() {
        None => checks.ok(NAME, format!("last {at}")),
        Some(failure) => {
            let success = guard.last_success.map_or_else(|| "never".to_owned(), |at| moment_and_distance(at, now));
            let found = format!("the last one, {at}, gave no answer: {failure}; the last answer: {success}");
            checks.warning(NAME, found, "policies stand as they did before; what queuecastd logs says more, and a shorter [guard] window takes less time and memory");
        }
    }
}

/// Whether a policy is held back. That is no fault of the installation: it is what the guard is
/// for.
fn policies(checks: &mut Checks, file: &GuardFile, now: UnixTime) {
    const NAME: &str = "policies";
    let bad: Vec<String> = file
        .policies()
        .iter()
        .filter(|found| found.standing == Standing::Bad)
        .map(|found| {
            let how = if file.is_held_back(found) { "held back" } else { "warned of" };
            let since = moment_and_distance(found.since, now);
            format!("{} in {} is {how} since {since}: {}", found.policy.name(), found.partition, found.why)
        })
        .collect();
    if bad.is_empty() {
        checks.ok(NAME, file.verdict());
    } else {
        checks.ok(NAME, format!("{}; see `queuecast report guard`", bad.join("; ")));
    }
}
