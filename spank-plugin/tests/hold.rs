//! How long a job waits on its nodes.

#[path = "../src/hold.rs"]
#[allow(dead_code, unreachable_pub)]
mod hold;

use hold::Hold::{Ignored, Nothing, Until};
use jiff::tz::TimeZone;
use proptest::prelude::*;

/// 2026-03-27 13:30:20 UTC.
const NOW: i64 = 1_774_618_220;

#[test]
fn a_time_ahead_is_waited_for() {
    assert_eq!(hold::decide("1774618221", NOW, None), Until(NOW + 1));
    assert_eq!(hold::decide("1774618221", NOW, Some(NOW + 2)), Until(NOW + 1));
}

#[test]
fn a_time_that_is_here_or_gone_is_not() {
    for value in ["", "0", "1774618219", "1774618220"] {
        assert_eq!(hold::decide(value, NOW, None), Nothing, "{value}");
    }
}

#[test]
fn a_malformed_or_far_time_is_passed_over() {
    // 366 days are 31,622,400 seconds.
    assert_eq!(hold::decide("1806240620", NOW, None), Until(NOW + 31_622_400));
    for value in ["soon", "-1", "+1774618300", "1774618300.5", "0x10", "1806240621", "99999999999999999999"] {
        assert!(matches!(hold::decide(value, NOW, None), Ignored(_)), "{value}");
    }
}

#[test]
fn a_wait_to_the_end_of_the_allocation_or_beyond_is_none() {
    for job_end in [NOW, NOW + 60] {
        assert!(matches!(hold::decide("1774618280", NOW, Some(job_end)), Ignored(_)), "{job_end}");
    }
}

#[test]
fn the_announcement_gives_local_time() {
    let zone = TimeZone::fixed(jiff::tz::offset(1));
    assert_eq!(hold::announcement(NOW, &zone), "queuecast: nodes are here; waiting until 2026-03-27T14:30:20 for the reserved time");
}

proptest! {
    #[test]
    fn no_value_makes_a_job_wait_past_its_end_or_for_more_than_366_days(
        value in "[0-9]{0,20}|\\PC{0,20}",
        now in any::<i64>(),
        job_end in any::<Option<i64>>(),
    ) {
        if let Until(until) = hold::decide(&value, now, job_end) {
            prop_assert!(until > now && i128::from(until) - i128::from(now) <= 31_622_400);
            prop_assert!(job_end.is_none_or(|end| until < end));
        }
        let _ = hold::announcement(now, &TimeZone::UTC);
    }
}
