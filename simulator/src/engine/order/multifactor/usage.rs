//! What jobs have used, decayed.

use std::collections::BTreeMap;

use job_types::time::{Seconds, UnixTime};

use super::associations::{AssociationIndex, Associations};

/// Usage of a tree of associations while jobs run: Slurm's decay thread
/// (src/plugins/priority/multifactor/priority_multifactor.c, `_decay_thread`).
///
/// Every period, all usage is decayed, and what each running job has used since the last time is
/// added, decayed as if all of it were as old as its beginning. What a job used since then is added
/// when it ends, if jobs are charged at their ends.
#[derive(Debug, Clone)]
pub(super) struct Usage {
    pub(super) associations: Associations,
    /// What is kept over one second.
    kept_per_second: f64,
    charges_at_end: bool,
    /// Running jobs by start, association and processors: how many of the same there are.
    running: BTreeMap<(UnixTime, AssociationIndex, u32), u32>,
    applied_until: UnixTime,
}

impl Usage {
    pub(super) fn new(associations: Associations, half_life: Seconds, charges_at_end: bool, now: UnixTime) -> Self {
        // Slurm's approximation of 2^(-1 / half life).
        let kept_per_second = if half_life > Seconds::ZERO { 1.0 - 0.693 / half_life.0 as f64 } else { 1.0 };
        Self { associations, kept_per_second, charges_at_end, running: BTreeMap::new(), applied_until: now }
    }

    pub(super) fn started(&mut self, start: UnixTime, place: AssociationIndex, processors: u32) {
        *self.running.entry((start, place, processors)).or_default() += 1;
    }

    pub(super) fn ended(&mut self, start: UnixTime, end: UnixTime, place: AssociationIndex, processors: u32) {
        let key = (start, place, processors);
        if let Some(count) = self.running.get_mut(&key) {
            *count -= 1;
            if *count == 0 {
                self.running.remove(&key);
            }
            if self.charges_at_end {
                let amount = self.used(start, end) * f64::from(processors);
                self.associations.charge(place, amount);
            }
        }
    }

    /// Decays what was used, and adds what is being used, until `now`.
    pub(super) fn apply(&mut self, now: UnixTime) {
        let elapsed = (now - self.applied_until).max(Seconds::ZERO);
        self.associations.decay(self.kept(elapsed));
        let amounts: Vec<(AssociationIndex, f64)> = self
            .running
            .iter()
            .map(|(&(start, place, processors), &count)| (place, self.used(start, now) * f64::from(processors) * f64::from(count)))
            .collect();
        for (place, amount) in amounts {
            self.associations.charge(place, amount);
        }
        self.applied_until = now;
    }

    /// Seconds since usage was last applied that a job has run, decayed.
    fn used(&self, start: UnixTime, until: UnixTime) -> f64 {
        let run = (until - start.max(self.applied_until)).max(Seconds::ZERO);
        run.0 as f64 * self.kept(run)
    }

    fn kept(&self, elapsed: Seconds) -> f64 {
        // Slurm keeps it above zero; below this it makes no difference to any ratio.
        self.kept_per_second.powf(elapsed.0 as f64).max(f64::MIN_POSITIVE)
    }
}

#[cfg(test)]
mod tests {
    use super::{Associations, Seconds, UnixTime, Usage};
    use job_types::number::UserId;

    #[test]
    fn usage_is_added_while_jobs_run_and_decays() {
        let mut associations = Associations::default();
        let user = associations.user(None, Some(1), 0, UserId(0));
        // 1 - 0.693 / 693 = 0.999 a second.
        let mut usage = Usage::new(associations, Seconds(693), true, UnixTime(0));
        usage.started(UnixTime(10), user, 4);
        usage.apply(UnixTime(60));
        // 50 s of 4 processors, decayed by 50 s.
        let expected = 200.0 * 0.999_f64.powi(50);
        assert!((usage.associations.tree[user].usage - expected).abs() < 1e-9);
        usage.ended(UnixTime(10), UnixTime(70), user, 4);
        usage.apply(UnixTime(120));
        // 10 s more, decayed by 10 s when the job ended; then all by a minute.
        let expected = (expected + 40.0 * 0.999_f64.powi(10)) * 0.999_f64.powi(60);
        assert!((usage.associations.tree[user].usage - expected).abs() < 1e-9);
        assert!((usage.associations.tree[0].usage - expected).abs() < 1e-9, "the root has all of it");
    }

    #[test]
    fn without_a_half_life_nothing_is_forgotten() {
        let mut associations = Associations::default();
        let user = associations.user(None, Some(1), 0, UserId(0));
        let mut usage = Usage::new(associations, Seconds(0), true, UnixTime(0));
        usage.started(UnixTime(0), user, 2);
        usage.ended(UnixTime(0), UnixTime(30), user, 2);
        usage.apply(UnixTime(1_000_000));
        assert_eq!(usage.associations.tree[user].usage, 60.0);
    }

    #[test]
    fn who_is_not_charged_at_the_end_goes_free_between_two_calculations() {
        let mut associations = Associations::default();
        let user = associations.user(None, Some(1), 0, UserId(0));
        let mut usage = Usage::new(associations, Seconds(0), false, UnixTime(0));
        usage.started(UnixTime(10), user, 2);
        usage.ended(UnixTime(10), UnixTime(50), user, 2);
        usage.apply(UnixTime(60));
        assert_eq!(usage.associations.tree[user].usage, 0.0);
    }
}
