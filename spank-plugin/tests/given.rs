//! What users write is read into what they asked for, or refused with a line that says what is
//! accepted.
//!
//! The module is compiled into the test by itself: the plugin as a whole needs a Slurm command
//! around it.

#[path = "../src/given.rs"]
#[allow(dead_code, unreachable_pub)]
mod given;

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use jiff::tz::TimeZone;
use job_types::options::{EarlyStart, IfMissed, IfRefused, Mode, MoldSizes, SuccessProbability, UserOptions};
use job_types::time::UnixTime;
use job_types::window::Window;
use proptest::prelude::*;

/// 2026-03-27 13:30:20 UTC.
const NOW: i64 = 1_774_618_220;

type Pairs<'a> = &'a [(&'a str, &'a str)];

fn read(options: Pairs<'_>, variables: Pairs<'_>) -> Result<UserOptions, String> {
    let find = |pairs: Pairs<'_>, name: &str| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value));
    given::read(|option| find(options, option.name), |variable| find(variables, variable), NOW, &TimeZone::UTC)
        .map_err(|refused| refused.to_string())
}

#[test]
fn options_are_read_as_users_write_them() {
    let asked = read(
        &[
            ("auto-mold", "1"),
            ("mold-sizes", "4,2,1"),
            ("reserve-at", "18:00"),
            ("success-probability", "0.9"),
            ("early-start", "Run"),
            ("if-missed", "Cancel"),
            ("shell-at-once", "1"),
            ("reserve-window", "18:00,06:00"),
            ("reserve-notice", "30m"),
            ("if-refused", "Cancel"),
            ("auto-defer", "1"),
            ("max-defer", "2h"),
            ("queuecast", "Advise"),
        ],
        &[],
    )
    .unwrap();
    let expected = UserOptions {
        auto_mold: true,
        mold_sizes: Some(MoldSizes::list([1, 2, 4]).unwrap()),
        // 4:29:40 after 13:30:20.
        reserve_at: Some(NOW + 16_180),
        success_probability: Some(SuccessProbability::AtLeast(0.9)),
        early_start: Some(EarlyStart::Run),
        if_missed: Some(IfMissed::Cancel),
        shell_at_once: true,
        // The end is on the next day.
        reserve_window: Some(Window { earliest: UnixTime(NOW + 16_180), latest: UnixTime(NOW + 16_180 + 12 * 3_600) }),
        is_default_window: false,
        reserve_notice: Some(1_800),
        if_refused: Some(IfRefused::Cancel),
        auto_defer: true,
        max_defer: Some(7_200),
        mode: Some(Mode::Advise),
    };
    assert_eq!(asked, expected);
}

#[test]
fn a_twin_serves_where_the_option_is_not_given() {
    let twins = [("QUEUECAST_AUTO_DEFER", "1"), ("QUEUECAST_MAX_DEFER", "10:00")];
    assert_eq!(read(&[], &twins).unwrap().max_defer, Some(600));
    assert_eq!(read(&[("max-defer", "1d")], &twins).unwrap().max_defer, Some(86_400));
    assert_eq!(
        read(&[("max-defer", "1d")], &[("QUEUECAST_AUTO_DEFER", "1"), ("QUEUECAST_MAX_DEFER", "x")]).unwrap().max_defer,
        Some(86_400)
    );
}

#[test]
fn a_flags_twin_is_off_when_empty_or_0() {
    for (value, is_on) in [("", false), ("0", false), ("1", true)] {
        assert_eq!(read(&[], &[("QUEUECAST_AUTO_MOLD", value)]).unwrap().auto_mold, is_on, "{value}");
    }
}

#[test]
fn a_malformed_value_is_refused_with_its_place_and_the_accepted_forms() {
    for (option, value, part) in [
        ("reserve-at", "soon", "YYYY-MM-DD"),
        ("reserve-at", "2026-03-27T13:00", "lies in the past"),
        ("max-defer", "1.5h", "hours:minutes:seconds"),
        ("mold-sizes", "8-2", "ends before it begins"),
        ("success-probability", "95%", "less than 1"),
        ("early-start", "maybe", "wait or run"),
        ("if-missed", "wait", "run or cancel"),
        ("reserve-window", "18:00", "use EARLIEST,LATEST"),
        ("reserve-window", "soon,06:00", "YYYY-MM-DD"),
        ("reserve-window", "tomorrow-08:00,2026-03-28T06:00", "does not end after it begins"),
        ("reserve-window", "2026-03-27T10:00,2026-03-27T13:00", "has already ended; the nearest window that is possible is now,now+3hours"),
        ("reserve-window", "2028-01-01,2028-01-02", "too late: a slot may begin at most 366 d from now; the nearest"),
        ("queuecast", "on", "observe"),
        ("auto-mold", "yes", "1 or 0"),
    ] {
        let variable = job_types::options::OPTIONS.iter().find(|known| known.name == option).unwrap().variable;
        let refused = read(&[(option, value)], &[]).unwrap_err();
        assert!(refused.starts_with(&format!("queuecast: --{option}: ")) && refused.contains(part), "{refused}");
        let refused = read(&[], &[(variable, value)]).unwrap_err();
        assert!(refused.starts_with(&format!("queuecast: {variable} in the environment: ")), "{refused}");
        assert!(refused.contains(part) && !refused.contains('\n'), "{refused}");
    }
}

#[test]
fn a_lonely_option_is_refused_and_a_lonely_twin_asks_for_nothing() {
    for (option, variable, value, needed) in [
        ("mold-sizes", "QUEUECAST_MOLD_SIZES", "1,2", "--auto-mold"),
        ("success-probability", "QUEUECAST_SUCCESS_PROBABILITY", "0.9", "--reserve-at"),
        ("early-start", "QUEUECAST_EARLY_START", "wait", "--reserve-at"),
        ("if-missed", "QUEUECAST_IF_MISSED", "cancel", "--reserve-at"),
        ("shell-at-once", "QUEUECAST_SHELL_AT_ONCE", "1", "--reserve-at"),
        ("reserve-notice", "QUEUECAST_RESERVE_NOTICE", "60", "--reserve-window"),
        ("if-refused", "QUEUECAST_IF_REFUSED", "run", "--reserve-window"),
        ("max-defer", "QUEUECAST_MAX_DEFER", "60", "--auto-defer"),
    ] {
        let refused = read(&[(option, value)], &[]).unwrap_err();
        assert!(refused.contains(needed), "{refused}");
        assert!(read(&[], &[(variable, value)]).unwrap().is_empty(), "{variable}");
    }
}

#[test]
fn the_companions_of_a_window_are_read_and_refused_beside_it() {
    for (option, value, part) in [
        ("reserve-notice", "1.5h", "hours:minutes:seconds"),
        ("if-refused", "wait", "run or cancel"),
        // The window lasts an hour and a half.
        ("reserve-notice", "3h", "the notice of 3 h is 1 h 30 min longer than what is left of the window"),
    ] {
        let variable = job_types::options::OPTIONS.iter().find(|known| known.name == option).unwrap().variable;
        let window = ("reserve-window", "14:00,15:30");
        let refused = read(&[window, (option, value)], &[]).unwrap_err();
        assert!(refused.starts_with(&format!("queuecast: --{option}: ")), "{refused}");
        let twin = read(&[window], &[(variable, value)]).unwrap_err();
        assert!(twin.starts_with(&format!("queuecast: {variable} in the environment: ")), "{twin}");
        assert!(refused.contains(part) && twin.contains(part), "{refused}");
    }
    let refused = read(&[("reserve-window", "14:00,15:00"), ("reserve-notice", "2h")], &[]).unwrap_err();
    assert!(refused.ends_with("; the nearest window that is possible is now+30minutes,now+150minutes"), "{refused}");
    assert_eq!(read(&[("reserve-window", "14:00,15:00"), ("reserve-notice", "1h")], &[]).unwrap().reserve_notice, Some(3_600));
}

#[test]
fn a_window_from_the_environment_is_a_default_and_one_from_an_option_is_not() {
    let twin = [("QUEUECAST_RESERVE_WINDOW", "14:00,18:00"), ("QUEUECAST_IF_REFUSED", "cancel")];
    let by_twin = read(&[], &twin).unwrap();
    assert!(by_twin.reserve_window.is_some() && by_twin.is_default_window);
    assert_eq!(by_twin.if_refused, Some(IfRefused::Cancel));
    let by_option = read(&[("reserve-window", "15:00,18:00")], &twin).unwrap();
    assert!(by_option.reserve_window.unwrap().earliest > by_twin.reserve_window.unwrap().earliest);
    assert!(!by_option.is_default_window);
    assert!(!read(&[], &[]).unwrap().is_default_window);
}

#[test]
fn a_value_that_is_not_text_is_refused() {
    let refused =
        given::read(|option| (option.name == "queuecast").then(|| OsString::from_vec(vec![0xff, 0xfe])), |_| None, NOW, &TimeZone::UTC)
            .unwrap_err();
    assert!(refused.to_string().contains("UTF-8"), "{refused}");
}

proptest! {
    #[test]
    fn any_values_are_read_or_refused_without_a_panic(
        bytes in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), job_types::options::OPTIONS.len()),
        given_as_option in prop::collection::vec(any::<bool>(), job_types::options::OPTIONS.len()),
        now in any::<i64>(),
    ) {
        let place = |name: &str| job_types::options::OPTIONS.iter().position(|option| option.name == name || option.variable == name).unwrap();
        let value = |name: &str| Some(OsString::from_vec(bytes[place(name)].clone()));
        let _ = given::read(
            |option| given_as_option[place(option.name)].then(|| value(option.name))?,
            value,
            now,
            &TimeZone::UTC,
        );
    }
}
