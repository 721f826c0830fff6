//! What becomes of the jobs of a node if nobody else comes: the delay of each (Yeo and Buyya 2006,
//! equation 3).
//!
//! Yeo and Buyya say that the delay is determined from deadlines and estimates, and that all jobs
//! on a node are delayed where the shares are more than the node has. They do not say how. Two
//! readings are at hand:
//!
//! - The shares are stretched once and for all. Then every job of a node whose shares add up to S
//!   ends at S times the time that it had, every deadline delay is S, and the risk of every node is
//!   zero: whatever is submitted would be taken. [`stretched_once`] has this reading, for
//!   comparisons.
//! - The node is run forward, and its shares are dealt anew whenever a job ends, as they are on the
//!   node itself. The first to end is later by the factor S, and those behind it by another one.
//!   [`dealt_anew`] has this reading, which is the one that the methods use.

use super::share::{Claim, WHOLE_NODE, total_share};

/// What becomes of the power of a node that the shares of its jobs leave over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SparePower {
    /// It is given to the jobs in proportion to their shares, as proportional-share schedulers do.
    #[default]
    Given,
    /// It is not: each job has its share, and is done at its deadline.
    Kept,
}

/// The power of a node that each of its jobs gets, over its share, where the shares of all add up
/// to `total_share`: 1 where they fit into the node, or what divides the node in proportion to
/// them.
#[must_use]
pub fn scale(total_share: f64, spare: SparePower) -> f64 {
    let is_divided = total_share > 1.0 || (spare == SparePower::Given && total_share > 0.0);
    if is_divided { total_share.recip() } else { 1.0 }
}

/// The delay of each job (equation 3), in seconds and at least zero, with shares that are dealt
/// anew whenever a job ends. `delays` has a place for each of `claims`.
///
/// It allocates nothing and goes over the jobs once for each that ends, so that it is for the jobs
/// of one node, which are few.
///
/// # Panics
///
/// Where there are not as many delays as claims.
pub fn dealt_anew(claims: &[Claim], spare: SparePower, delays: &mut [f64]) {
    assert_eq!(claims.len(), delays.len(), "a delay for each claim");
    if total_share(claims) <= WHOLE_NODE && !claims.iter().any(Claim::is_late) {
        return delays.fill(0.0);
    }
    // Until a job has ended, its place has its remaining run time, below zero; afterwards its end.
    delays.iter_mut().zip(claims).for_each(|(state, claim)| *state = -claim.remaining_run_s.max(f64::MIN_POSITIVE));
    let mut now = 0.0;
    loop {
        let running = |state: f64, claim: &Claim| {
            let now_claim = Claim { remaining_run_s: -state, remaining_deadline_s: claim.remaining_deadline_s - now };
            (state < 0.0).then(|| now_claim.share())
        };
        let total: f64 = delays.iter().zip(claims).filter_map(|(&state, claim)| running(state, claim)).sum();
        let scale = scale(total, spare);
        let span = |state: f64, share: f64| -state / (share * scale);
        let ends = delays.iter().zip(claims).filter_map(|(&state, claim)| Some(span(state, running(state, claim)?)));
        let Some(soonest) = ends.min_by(f64::total_cmp) else { break };
        let after = now + soonest;
        for (state, claim) in delays.iter_mut().zip(claims) {
            let Some(share) = running(*state, claim) else { continue };
            // Jobs that end at one moment do so whatever the last digit of their ends.
            let is_over = span(*state, share) <= soonest * (1.0 + 1e-12);
            *state = if is_over { after } else { (*state + share * scale * soonest).min(-f64::MIN_POSITIVE) };
        }
        now = after;
    }
    delays.iter_mut().zip(claims).for_each(|(state, claim)| *state = delay(*state, claim.remaining_deadline_s));
}

/// The delay of each job, in seconds, where shares beyond the node's power are stretched once and
/// for all.
///
/// # Panics
///
/// Where there are not as many delays as claims.
pub fn stretched_once(claims: &[Claim], spare: SparePower, delays: &mut [f64]) {
    assert_eq!(claims.len(), delays.len(), "a delay for each claim");
    let scale = scale(total_share(claims), spare);
    for (place, claim) in delays.iter_mut().zip(claims) {
        *place = delay(claim.remaining_run_s / (claim.share() * scale), claim.remaining_deadline_s);
    }
}

/// Returns by how many seconds an end is behind the deadline, both in seconds from now. A
/// difference that is only rounding counts as 0.
fn delay(end_s: f64, remaining_deadline_s: f64) -> f64 {
    let delay = end_s - remaining_deadline_s;
    if delay > remaining_deadline_s.abs() * 1e-9 { delay } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn claims<const N: usize>(figures: [(f64, f64); N]) -> [Claim; N] {
        figures.map(|(remaining_run_s, remaining_deadline_s)| Claim { remaining_run_s, remaining_deadline_s })
    }

    fn delays<const N: usize>(figures: [(f64, f64); N], spare: SparePower) -> [f64; N] {
        let mut delays = [0.0; N];
        dealt_anew(&claims(figures), spare, &mut delays);
        delays
    }

    #[test]
    fn shares_beyond_the_node_stretch_all_and_spare_power_is_given_or_kept() {
        let dealt = |shares: [f64; 2], spare| shares.map(|share| share * scale(shares.iter().sum(), spare));
        assert_eq!(dealt([0.5, 0.25], SparePower::Kept), [0.5, 0.25]);
        assert_eq!(dealt([0.5, 0.125], SparePower::Given), [0.8, 0.2]);
        assert_eq!(dealt([3.0, 1.0], SparePower::Kept), [0.75, 0.25]);
        assert_eq!(dealt([3.0, 1.0], SparePower::Given), [0.75, 0.25]);
        assert_eq!(dealt([0.0, 0.0], SparePower::Given), [0.0, 0.0]);
    }

    #[test]
    fn nobody_is_late_where_the_shares_fit() {
        for spare in [SparePower::Given, SparePower::Kept] {
            assert_eq!(delays([(50.0, 100.0), (25.0, 100.0)], spare), [0.0, 0.0]);
            assert_eq!(delays([(50.0, 100.0), (100.0, 200.0)], spare), [0.0, 0.0]);
        }
    }

    /// Computed by hand: shares of 0.8 and 0.6 add up to 1.4. The first job ends at 140; until then
    /// the second has done 60, and the 60 that remain need more than the node for the other 60: it
    /// ends at 80 + 120 = 200.
    #[test]
    fn the_first_is_delayed_by_what_is_too_much_and_the_second_by_what_then_is() {
        for spare in [SparePower::Given, SparePower::Kept] {
            let [first, second] = delays([(80.0, 100.0), (120.0, 200.0)], spare);
            assert!((first - 40.0).abs() < 1e-9 && second.abs() < 1e-9, "{first} {second}");
            let [first, second] = delays([(80.0, 100.0), (160.0, 200.0)], spare);
            assert!((first - 60.0).abs() < 1e-9 && (second - 40.0).abs() < 1e-9, "{first} {second}");
        }
    }

    #[test]
    fn a_job_that_is_late_already_is_delayed_by_more() {
        assert_eq!(delays([(30.0, -10.0)], SparePower::Kept), [40.0]);
        assert_eq!(delays([(300.0, 100.0)], SparePower::Given), [200.0]);
    }

    #[test]
    fn shares_that_are_stretched_once_delay_all_by_the_same_factor() {
        let mut delays = [0.0; 2];
        stretched_once(&claims([(80.0, 100.0), (160.0, 200.0)]), SparePower::Kept, &mut delays);
        let factors = [delays[0] / 100.0, delays[1] / 200.0];
        assert!(factors.iter().all(|factor| (factor - 0.6).abs() < 1e-9), "{factors:?}");
    }

    proptest! {
        /// A node that is too full is busy until its last late job ends, and the job with the
        /// earliest deadline is late by the factor of the total share.
        #[test]
        fn a_node_that_is_too_full_delays_the_first_deadline_by_its_total_share(
            figures in prop::collection::vec((1.0..1e5_f64, 1.0..1e5_f64), 1..8),
            gives_spare in any::<bool>(),
        ) {
            let claims: Vec<Claim> = figures.iter()
                .map(|&(remaining_run_s, remaining_deadline_s)| Claim { remaining_run_s, remaining_deadline_s }).collect();
            let spare = if gives_spare { SparePower::Given } else { SparePower::Kept };
            let mut delays = vec![0.0; claims.len()];
            dealt_anew(&claims, spare, &mut delays);
            let total = total_share(&claims);
            if total <= WHOLE_NODE {
                prop_assert!(delays.iter().all(|delay| *delay == 0.0));
            } else {
                let ends = || claims.iter().zip(&delays).map(|(claim, delay)| (claim.remaining_deadline_s, *delay));
                let (first_deadline, first_delay) = ends().min_by(|one, other| one.0.total_cmp(&other.0)).unwrap();
                prop_assert!((first_delay - (total - 1.0) * first_deadline).abs() <= 1e-6 * total * first_deadline);
                let work: f64 = figures.iter().map(|figure| figure.0).sum();
                let last_late = ends().filter(|end| end.1 > 0.0).map(|(deadline, delay)| deadline + delay).fold(0.0, f64::max);
                prop_assert!(last_late <= work * (1.0 + 1e-6), "{} {}", last_late, work);
            }
        }
    }
}
