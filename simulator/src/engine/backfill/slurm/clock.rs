//! When Slurm's two schedulers look at the queue.
//!
//! slurmctld's loop looks once a second whether a submission or a termination asks for a pass
//! (src/slurmctld/controller.c, `_slurmctld_background`), which on a clock of whole seconds is in
//! the next one. An idle backfill scheduler looks once a second as well whether anything has
//! changed.

use job_types::time::{Seconds, UnixTime};

use super::SlurmParameters;

/// How much of the queue a pass of the main scheduler looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Depth {
    /// `default_queue_depth`.
    Default,
    /// The whole queue.
    Full,
}

/// The time between two looks of slurmctld's loop.
const LOOP: Seconds = Seconds(1);

/// When the next passes are due, on the clock of the simulation.
#[derive(Debug, Clone)]
pub(super) struct Clock {
    /// The first submission or termination that waits for the loop.
    request: Option<UnixTime>,
    /// A termination that asks for a pass at once.
    epilog: Option<UnixTime>,
    /// The last pass of the main scheduler that the background loop made, and the last of them over
    /// the full queue.
    last_timed: UnixTime,
    last_full: UnixTime,
    /// The last pass of the main scheduler, whatever caused it.
    last_main: UnixTime,
    last_backfill: UnixTime,
    /// Something was queued, started or ended after the last backfill pass.
    changed_at: Option<UnixTime>,
}

impl Clock {
    /// A slurmctld that started long enough ago that nothing has to wait for it.
    pub(super) fn new(now: UnixTime, parameters: &SlurmParameters) -> Self {
        Self {
            request: None,
            epilog: None,
            last_timed: now - parameters.batch_sched_delay,
            last_full: now,
            last_main: now - Seconds(1),
            last_backfill: now - parameters.bf_interval.max(Seconds::ZERO),
            changed_at: None,
        }
    }

    pub(super) fn submitted(&mut self, now: UnixTime) {
        self.request.get_or_insert(now);
        self.changed_at.get_or_insert(now);
    }

    /// The end of an epilog starts a pass at once (src/slurmctld/proc_req.c,
    /// `_slurm_rpc_epilog_complete`); without one the nodes say with their answer that the job is
    /// gone, which only asks for a pass (src/slurmctld/agent.c).
    pub(super) fn ended(&mut self, now: UnixTime, has_epilog: bool) {
        if has_epilog {
            self.epilog = Some(now);
        } else {
            self.request.get_or_insert(now);
        }
        self.changed_at.get_or_insert(now);
    }

    pub(super) fn started(&mut self, now: UnixTime) {
        self.changed_at.get_or_insert(now);
    }

    /// What the schedulers did while nobody waited. The loop makes the passes that were asked for;
    /// the backfill scheduler looks every `bf_interval` as long as something changes, and once a
    /// second when that time has passed without a change (`backfill_agent`).
    pub(super) fn idle_until(&mut self, now: UnixTime, parameters: &SlurmParameters) {
        if let Some(passed_at) = self.request_due(parameters).filter(|&at| at < now) {
            self.last_timed = passed_at;
            self.request = None;
        }
        if parameters.bf_interval < Seconds::ZERO {
            return;
        }
        if let Some(looked_at) = self.changed_at.map(|at| at.max(self.last_backfill + parameters.bf_interval)).filter(|&at| at < now) {
            self.last_backfill = looked_at;
            self.changed_at = None;
        }
    }

    /// When the loop makes the pass that was asked for.
    fn request_due(&self, parameters: &SlurmParameters) -> Option<UnixTime> {
        self.request.map(|at| (at + LOOP).max(self.last_timed + parameters.batch_sched_delay))
    }

    /// When the main scheduler looks next, as long as somebody waits, and at how much.
    pub(super) fn main_due(&self, parameters: &SlurmParameters) -> Option<(UnixTime, Depth)> {
        if parameters.sched_interval < Seconds::ZERO {
            return None;
        }
        let apart = Seconds(if parameters.sched_min_interval_microseconds < 1_000_000 {
            0
        } else {
            (parameters.sched_min_interval_microseconds + 999_999) / 1_000_000
        });
        let earliest = self.last_main + apart;
        let full = self.last_full + parameters.sched_interval.max(Seconds(1));
        let soonest = [self.epilog, self.request_due(parameters)].into_iter().flatten().min();
        Some(match soonest {
            Some(soonest) if soonest < full => (soonest.max(earliest), Depth::Default),
            _ => (full.max(earliest), Depth::Full),
        })
    }

    pub(super) fn main_ran(&mut self, now: UnixTime, depth: Depth, parameters: &SlurmParameters) {
        let by_loop = depth == Depth::Full || self.request_due(parameters).is_some_and(|due| due <= now);
        if by_loop {
            self.last_timed = now;
            self.request = None;
        }
        if depth == Depth::Full {
            self.last_full = now;
        }
        self.epilog = None;
        self.last_main = now;
    }

    /// When the backfill scheduler looks next, as long as somebody waits.
    pub(super) fn backfill_due(&self, parameters: &SlurmParameters) -> Option<UnixTime> {
        (parameters.bf_interval > Seconds::ZERO).then_some(self.last_backfill + parameters.bf_interval)
    }

    /// Whether something happened since the last backfill pass.
    pub(super) fn has_changed(&self) -> bool {
        self.changed_at.is_some()
    }

    pub(super) fn backfill_ran(&mut self, now: UnixTime) {
        self.last_backfill = now;
        self.changed_at = None;
    }
}

#[cfg(test)]
mod tests {
    use super::{Clock, Depth, SlurmParameters, UnixTime};

    #[test]
    fn requests_are_looked_at_by_the_loop_and_then_after_the_delay() {
        let parameters = SlurmParameters::default();
        let mut clock = Clock::new(UnixTime(1_000), &parameters);
        clock.submitted(UnixTime(1_000));
        assert_eq!(clock.main_due(&parameters), Some((UnixTime(1_001), Depth::Default)));
        clock.main_ran(UnixTime(1_001), Depth::Default, &parameters);
        clock.ended(UnixTime(1_001), false);
        // batch_sched_delay is 3.
        assert_eq!(clock.main_due(&parameters), Some((UnixTime(1_004), Depth::Default)));
    }

    #[test]
    fn the_end_of_an_epilog_is_looked_at_at_once_and_leaves_the_requests_turn_as_it_was() {
        let parameters = SlurmParameters::default();
        let mut clock = Clock::new(UnixTime(1_000), &parameters);
        clock.submitted(UnixTime(1_000));
        clock.main_ran(UnixTime(1_001), Depth::Default, &parameters);
        clock.submitted(UnixTime(1_001));
        clock.ended(UnixTime(1_002), true);
        assert_eq!(clock.main_due(&parameters), Some((UnixTime(1_002), Depth::Default)));
        clock.main_ran(UnixTime(1_002), Depth::Default, &parameters);
        assert_eq!(clock.main_due(&parameters), Some((UnixTime(1_004), Depth::Default)));
    }

    #[test]
    fn the_whole_queue_is_looked_at_every_interval() {
        let parameters = SlurmParameters::default();
        let clock = Clock::new(UnixTime(1_000), &parameters);
        assert_eq!(clock.main_due(&parameters), Some((UnixTime(1_060), Depth::Full)));
    }

    #[test]
    fn the_backfill_scheduler_keeps_its_interval_while_things_change() {
        let parameters = SlurmParameters::default();
        let mut clock = Clock::new(UnixTime(1_000), &parameters);
        clock.submitted(UnixTime(1_000));
        assert_eq!(clock.backfill_due(&parameters), Some(UnixTime(1_000)));
        clock.backfill_ran(UnixTime(1_000));
        clock.ended(UnixTime(1_010), false);
        assert_eq!(clock.backfill_due(&parameters), Some(UnixTime(1_030)));
        // Nobody waited, and the pass at 1030 had nothing to do; the next looks at once.
        clock.idle_until(UnixTime(1_500), &parameters);
        clock.submitted(UnixTime(1_500));
        assert_eq!(clock.backfill_due(&parameters), Some(UnixTime(1_060)));
    }
}
