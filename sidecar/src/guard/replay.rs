//! The process that replays the past.

use std::fs;
use std::io::{self, Read, Write};
use std::process::ExitCode;
use std::time::Duration;

use job_types::policy::Policy;
use rustix::process::{Resource, Rlimit, nice, setrlimit};
use rustix::time::{ClockId, clock_gettime};
use simulator::assessment::SiteScheduler;
use simulator::guard::judge::{self, judge};
use simulator::guard::not_known;
use simulator::guard::state::{NotKnown, Postponed};
use slurm_conf::SlurmSettings;

use super::past;
use super::question::{Answer, Question};

/// The only argument of the process that replays the past.
pub(crate) const ARGUMENT: &str = "--replay-past";

/// How much memory it may have, in bytes of its address space.
const MOST_BYTES: u64 = 1 << 30;

/// How much time of a processor it may have.
const MOST_CPU_SECONDS: u64 = 600;

/// The bounds of the process, in words.
pub(super) fn bounds() -> String {
    format!("it may have {} MiB of memory and {MOST_CPU_SECONDS} s of a processor; make [guard] window shorter", MOST_BYTES >> 20)
}

/// Answers on standard output what is asked on standard input.
pub(crate) fn serve() -> ExitCode {
    // The daemon lives as well without these settings.
    let _ = nix::sys::prctl::set_name(c"guard-replay");
    let _ = nix::sys::prctl::set_pdeathsig(nix::sys::signal::Signal::SIGKILL);
    let _ = fs::write("/proc/self/oom_score_adj", "1000");
    let _ = nice(19);
    let bound = |resource, most| setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) });
    if bound(Resource::As, MOST_BYTES).and(bound(Resource::Cpu, MOST_CPU_SECONDS)).is_err() {
        return ExitCode::FAILURE;
    }
    match answer_on(io::stdin().lock(), io::stdout().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn answer_on(mut input: impl Read, mut output: impl Write) -> io::Result<()> {
    let mut asked = Vec::new();
    input.read_to_end(&mut asked)?;
    let question: Question = serde_json::from_slice(&asked)?;
    output.write_all(&serde_json::to_vec(&answer(&question))?)?;
    output.flush()
}

fn answer(question: &Question) -> Result<Answer, String> {
    let (scheduler, mut not_known) = scheduler(question);
    let (mut pasts, jobs) = past::of(question).map_err(|error| error.to_string())?;
    let (mut replays, mut postponed) = (Vec::new(), Vec::new());
    let mut longest = Duration::ZERO;
    for partition in &question.partitions {
        let Some(past) = pasts.remove(&partition.name) else { continue };
        let adoptions: Vec<f64> = partition.policies.iter().map(|asked| past.adoption(*asked)).collect();
        let log = past.log(partition.processors);
        for (asked, adoption) in partition.policies.iter().zip(adoptions) {
            let began = used();
            let expected = Duration::from_millis(judge::expected_cost_ms(&log, asked.policy));
            if !may_begin(began, longest.max(expected)) {
                postponed.push(Postponed { partition: partition.name.clone(), policy: asked.policy });
                continue;
            }
            let asks = judge::Question {
                policy: asked.policy,
                adoption,
                is_unasked: asked.is_unasked,
                processors: partition.processors,
                site: Policy {
                    min_gain: partition.min_gain,
                    min_gain_time: partition.min_gain_time,
                    defer_threshold: partition.defer_threshold,
                    max_defer: partition.max_defer,
                    others: partition.others,
                    ..Policy::default()
                },
                scheduler: &scheduler,
                at: question.at,
            };
            replays.push((partition.name.clone(), asked.policy, judge(&log, &asks)));
            longest = longest.max(used().saturating_sub(began));
        }
    }
    not_known.extend(not_known::always());
    Ok(Answer { jobs, replays, postponed, not_known })
}

/// Whether one more replay is likely to end in time, where so much of a processor has been used,
/// and the longest replay so far has taken so much, or this one is expected to. What one takes is
/// known only afterwards; most take less than a third of all time.
fn may_begin(used: Duration, longest: Duration) -> bool {
    let all = Duration::from_secs(MOST_CPU_SECONDS);
    all.saturating_sub(used) >= longest.max(all / 3)
}

/// The time of a processor that this process has used.
fn used() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap_or_default()
}

/// The site's scheduler; Slurm's defaults where slurm.conf can't be read, which is said.
fn scheduler(question: &Question) -> (SiteScheduler, Vec<NotKnown>) {
    match SlurmSettings::read(&question.slurm_conf) {
        Ok(site) => not_known::scheduler_of(&site),
        Err(error) => {
            let why = format!("{} can't be read ({error}): Slurm's defaults stand for it", question.slurm_conf.display());
            (SiteScheduler::default(), vec![NotKnown { about: "the scheduler".to_owned(), why }])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_replay_is_begun_that_would_not_end_in_time() {
        let begins = |used_s, longest_s| may_begin(Duration::from_secs(used_s), Duration::from_secs(longest_s));
        assert_eq!([0, 400, 401, 700].map(|used_s| begins(used_s, 0)), [true, true, false, false]);
        assert_eq!([0, 350, 351].map(|used_s| begins(used_s, 250)), [true, true, false]);
    }
}
