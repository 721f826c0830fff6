//! Probes, one after the other and ten at once.

use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use super::{Extent, SOON, USERS};
use crate::daemon_log::{Log, Place};
use crate::private_cluster::PrivateCluster;
use crate::statistics::{median, rounded};
use end_to_end::Daemon;

/// How many probes a user may begin in how long a time: a minute, from when the daemon reads one.
const A_USERS_PROBES: usize = 10;
const WITHIN: Duration = Duration::from_secs(65);

/// How many probes are under way beside a refresh.
const AT_ONCE: usize = 10;

/// What is asked: 100 starts, two hours of four nodes within two days.
const QUESTION: [&str; 6] = ["probe", "--between", "now,now+2days", "-N4", "-t2:00:00", "--json"];

/// How long probes take.
#[derive(Debug, Serialize)]
pub(super) struct Probes {
    pub(super) probes: usize,
    /// Of how many slots an answer tells.
    pub(super) slots: usize,
    pub(super) median_s: f64,
    pub(super) p99_s: f64,
}

/// How long snapshots take.
#[derive(Debug, Serialize)]
pub(super) struct Refreshes {
    pub(super) alone_ms: f64,
    pub(super) beside_probes_ms: f64,
    pub(super) ratio: f64,
}

/// The daemon, with its log.
#[derive(Debug)]
pub(super) struct Asked<'a> {
    pub(super) site: &'a PrivateCluster,
    pub(super) daemon: Daemon,
    log: Log,
    /// When each user asked last for the first of ten times.
    begun: Vec<Vec<Instant>>,
}

impl<'a> Asked<'a> {
    /// Starts the daemon, and waits for a plan of all jobs that wait.
    ///
    /// # Errors
    /// Where there is none.
    pub(super) fn start(site: &'a PrivateCluster, extent: &Extent) -> anyhow::Result<Asked<'a>> {
        let daemon = site.cluster.start_queuecastd();
        let mut asked = Asked { site, daemon, log: Log::new(site), begun: vec![Vec::new(); USERS.len()] };
        let planned = site.wait(SOON, || {
            site.require(&mut asked.daemon)?;
            let (entries, _) = asked.log.since(Place::default()).unwrap_or_default();
            let is_whole = |jobs: Option<u64>| jobs.is_some_and(|jobs| jobs >= extent.waiting);
            Ok(entries.iter().any(|entry| entry.says("planned") && is_whole(entry.number("jobs"))).then_some(()))
        })?;
        planned.context("there is no plan of all jobs that wait")?;
        asked.refresh()?;
        Ok(asked)
    }

    /// So many users who may ask now, each once; the daemon is not asked more often than it
    /// answers.
    fn users(&mut self, count: usize) -> Vec<&'static str> {
        loop {
            self.begun.iter_mut().for_each(|begun| begun.retain(|begun| begun.elapsed() <= WITHIN));
            let mut free: Vec<usize> = (0..USERS.len()).filter(|place| self.begun[*place].len() < A_USERS_PROBES).collect();
            if free.len() >= count {
                free.truncate(count);
                free.iter().for_each(|place| self.begun[*place].push(Instant::now()));
                return free.into_iter().map(|place| USERS[place]).collect();
            }
            thread::sleep(Duration::from_millis(200));
        }
    }

    /// Times probes that come one after the other.
    ///
    /// # Errors
    /// Where one is not answered with slots.
    pub(super) fn measure_probes(&mut self, extent: &Extent) -> anyhow::Result<Probes> {
        let (mut times, mut slots) = (Vec::new(), 0);
        for _ in 0..extent.probes {
            let mut command = self.site.asking(self.users(1)[0]);
            command.args(QUESTION);
            let begin = Instant::now();
            let output = self.site.run(&mut command)?;
            times.push(begin.elapsed().as_secs_f64());
            slots = slots_of(&output.stdout)?;
        }
        times.sort_by(f64::total_cmp);
        let p99 = times[(times.len() * 99).div_ceil(100) - 1];
        Ok(Probes { probes: times.len(), slots, median_s: rounded(median(&times), 3), p99_s: rounded(p99, 3) })
    }

    /// Times refreshes alone and beside probes, in turn.
    ///
    /// # Errors
    /// Where a snapshot does not come, or one of the probes is not answered.
    pub(super) fn measure_refreshes(&mut self, extent: &Extent) -> anyhow::Result<Refreshes> {
        let (mut alone, mut beside) = (Vec::new(), Vec::new());
        for _ in 0..extent.rounds {
            // Each of another user: one has one under way at a time.
            let users = self.users(AT_ONCE);
            alone.push(self.refresh()?);
            let mut probes = Vec::new();
            for user in users {
                let mut command = self.site.asking(user);
                probes.push(command.args(QUESTION).stdout(Stdio::piped()).spawn()?);
            }
            // The first is under way, and the others wait for it.
            thread::sleep(Duration::from_millis(100));
            beside.push(self.refresh()?);
            probes.into_iter().try_for_each(answered)?;
        }
        let [alone_ms, beside_probes_ms] = [alone, beside].map(|times| median(&times));
        let ratio = rounded(beside_probes_ms / alone_ms, 2);
        Ok(Refreshes { alone_ms: rounded(alone_ms, 1), beside_probes_ms: rounded(beside_probes_ms, 1), ratio })
    }

    /// Demands a snapshot, and returns how many milliseconds it takes.
    fn refresh(&mut self) -> anyhow::Result<f64> {
        let (from, demanded) = (self.log.end()?, Timestamp::now());
        self.daemon.signal("USR1");
        let published = self.site.wait(SOON, || {
            self.site.require(&mut self.daemon)?;
            let (entries, _) = self.log.since(from)?;
            Ok(entries.into_iter().find(|entry| entry.says("published")))
        })?;
        let published = published.context("there is no snapshot")?;
        Ok(published.seconds_since(demanded) * 1_000.0)
    }
}

fn answered(probe: Child) -> anyhow::Result<()> {
    let output = probe.wait_with_output()?;
    ensure!(output.status.success(), "a probe failed beside others: {}", output.status);
    slots_of(&output.stdout).map(drop)
}

/// Of how many slots an answer tells.
fn slots_of(answer: &[u8]) -> anyhow::Result<usize> {
    let answer: Value = serde_json::from_slice(answer)?;
    let slots = answer["slots"].as_array().map_or(0, Vec::len);
    let is_any_had = answer["best"].is_number();
    ensure!(slots > 1 && is_any_had, "a probe is answered with no slots: {answer}");
    Ok(slots)
}
