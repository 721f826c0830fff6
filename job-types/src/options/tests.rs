use proptest::prelude::*;

use super::*;
use crate::time::Seconds;

#[test]
fn nothing_is_asked_by_default() {
    let asked = UserOptions::default();
    assert!(asked.is_empty());
    assert_eq!(asked.canonical().count(), 0);
    assert_eq!(asked.unaccompanied(), None);
}

#[test]
fn each_key_stands_at_its_place_in_the_table() {
    for option in &OPTIONS {
        assert_eq!(option.key.option(), option);
        assert_eq!(UserOption::by_variable(option.variable), Some(option));
        assert!(option.variable.starts_with(VARIABLE_PREFIX));
    }
}

#[test]
fn canonical_values_are_taken_over() {
    let mut asked = UserOptions::default();
    for (variable, value) in [
        ("QUEUECAST_AUTO_MOLD", "1"),
        ("QUEUECAST_MOLD_SIZES", "1,2,4"),
        ("QUEUECAST_RESERVE_AT", "1774630800"),
        ("QUEUECAST_SUCCESS_PROBABILITY", "0.95"),
        ("QUEUECAST_EARLY_START", "wait"),
        ("QUEUECAST_IF_MISSED", "cancel"),
        ("QUEUECAST_SHELL_AT_ONCE", "1"),
        ("QUEUECAST_RESERVE_WINDOW", "1774630800,1774674000"),
        ("QUEUECAST_RESERVE_NOTICE", "600"),
        ("QUEUECAST_IF_REFUSED", "cancel"),
        ("QUEUECAST_AUTO_DEFER", "1"),
        ("QUEUECAST_MAX_DEFER", "3600"),
        ("QUEUECAST_MODE", "advise"),
    ] {
        assert_eq!(asked.set(variable, value), Ok(()), "{variable}");
    }
    let expected = UserOptions {
        auto_mold: true,
        mold_sizes: Some(MoldSizes::list([1, 2, 4]).unwrap()),
        reserve_at: Some(1_774_630_800),
        success_probability: Some(SuccessProbability::AtLeast(0.95)),
        early_start: Some(EarlyStart::Wait),
        if_missed: Some(IfMissed::Cancel),
        shell_at_once: true,
        reserve_window: Some(Window { earliest: UnixTime(1_774_630_800), latest: UnixTime(1_774_674_000) }),
        is_default_window: false,
        reserve_notice: Some(600),
        if_refused: Some(IfRefused::Cancel),
        auto_defer: true,
        max_defer: Some(3_600),
        mode: Some(Mode::Advise),
    };
    assert_eq!(asked, expected);
    assert_eq!(asked.set("QUEUECAST_SUCCESS_PROBABILITY", "best"), Ok(()));
    assert_eq!(asked.success_probability, Some(SuccessProbability::Best));
    assert_eq!(asked.set("QUEUECAST_RESERVE_WINDOW", "0,1,default"), Ok(()));
    assert_eq!((asked.reserve_window.map(Window::length), asked.is_default_window), (Some(Seconds(1)), true));
    assert_eq!(asked.set("QUEUECAST_RESERVE_WINDOW", "0,1"), Ok(()));
    assert!(!asked.is_default_window, "a window that comes again is not the default any more");
}

#[test]
fn a_value_out_of_bounds_is_refused_and_changes_nothing() {
    for (variable, value) in [
        ("QUEUECAST_AUTO_MOLD", ""),
        ("QUEUECAST_AUTO_MOLD", "yes"),
        ("QUEUECAST_MOLD_SIZES", "0"),
        ("QUEUECAST_RESERVE_AT", ""),
        ("QUEUECAST_RESERVE_AT", "-1"),
        ("QUEUECAST_RESERVE_AT", "18:00"),
        ("QUEUECAST_RESERVE_AT", "9223372036854775808"),
        ("QUEUECAST_SUCCESS_PROBABILITY", "0"),
        ("QUEUECAST_SUCCESS_PROBABILITY", "1"),
        ("QUEUECAST_SUCCESS_PROBABILITY", "NaN"),
        ("QUEUECAST_SUCCESS_PROBABILITY", "inf"),
        ("QUEUECAST_SUCCESS_PROBABILITY", "95%"),
        ("QUEUECAST_SUCCESS_PROBABILITY", "most"),
        ("QUEUECAST_EARLY_START", "Wait"),
        ("QUEUECAST_IF_MISSED", "wait"),
        ("QUEUECAST_SHELL_AT_ONCE", "yes"),
        ("QUEUECAST_RESERVE_WINDOW", ""),
        ("QUEUECAST_RESERVE_WINDOW", "5"),
        ("QUEUECAST_RESERVE_WINDOW", "5,5"),
        ("QUEUECAST_RESERVE_WINDOW", "5,4"),
        ("QUEUECAST_RESERVE_WINDOW", "-5,4"),
        ("QUEUECAST_RESERVE_WINDOW", "1,2,3"),
        ("QUEUECAST_RESERVE_WINDOW", "1,2,Default"),
        ("QUEUECAST_RESERVE_WINDOW", "1,9223372036854775808"),
        ("QUEUECAST_RESERVE_WINDOW", "18:00,06:00"),
        ("QUEUECAST_RESERVE_NOTICE", "-1"),
        ("QUEUECAST_RESERVE_NOTICE", "10m"),
        ("QUEUECAST_IF_REFUSED", "wait"),
        ("QUEUECAST_MAX_DEFER", "-1"),
        ("QUEUECAST_MODE", "on"),
    ] {
        let mut asked = UserOptions::default();
        let error = asked.set(variable, value).unwrap_err();
        assert!(error.to_string().contains("use ") || error.to_string().contains("from 1 to"), "{error}");
        assert!(asked.is_empty(), "{variable}={value}");
    }
}

#[test]
fn a_message_is_short_whatever_was_given() {
    let long = "9".repeat(1 << 20);
    let mut asked = UserOptions::default();
    for option in &OPTIONS {
        let error = asked.set(option.variable, &long).unwrap_err();
        assert!(error.to_string().len() < 250, "{error}");
    }
    assert!(asked.set(&long, "1").unwrap_err().to_string().len() < 250);
}

#[test]
fn modes_are_ordered_by_how_far_they_go() {
    assert!(Mode::Off < Mode::Observe && Mode::Observe < Mode::Advise && Mode::Advise < Mode::Enforce);
    for mode in [Mode::Off, Mode::Observe, Mode::Advise, Mode::Enforce] {
        assert_eq!(mode.as_str().parse(), Ok(mode));
    }
}

#[test]
fn an_option_that_needs_another_says_which() {
    for (variable, value, message) in [
        ("QUEUECAST_MOLD_SIZES", "1,2", "--mold-sizes needs --auto-mold beside it"),
        ("QUEUECAST_SUCCESS_PROBABILITY", "0.9", "--success-probability needs --reserve-at beside it"),
        ("QUEUECAST_EARLY_START", "run", "--early-start needs --reserve-at beside it"),
        ("QUEUECAST_IF_MISSED", "cancel", "--if-missed needs --reserve-at beside it"),
        ("QUEUECAST_SHELL_AT_ONCE", "1", "--shell-at-once needs --reserve-at beside it"),
        ("QUEUECAST_RESERVE_NOTICE", "60", "--reserve-notice needs --reserve-window beside it"),
        ("QUEUECAST_IF_REFUSED", "cancel", "--if-refused needs --reserve-window beside it"),
        ("QUEUECAST_MAX_DEFER", "60", "--max-defer needs --auto-defer beside it"),
    ] {
        let mut asked = UserOptions::default();
        asked.set(variable, value).unwrap();
        assert_eq!(asked.unaccompanied().unwrap().to_string(), message);
        asked.set("QUEUECAST_AUTO_MOLD", "1").unwrap();
        asked.set("QUEUECAST_AUTO_DEFER", "1").unwrap();
        asked.set("QUEUECAST_RESERVE_AT", "1774630800").unwrap();
        asked.set("QUEUECAST_RESERVE_WINDOW", "1774630800,1774674000").unwrap();
        assert_eq!(asked.unaccompanied(), None);
    }
}

fn any_mold_sizes() -> impl Strategy<Value = MoldSizes> {
    prop_oneof![
        prop::collection::vec(1..=u32::MAX, 1..=MoldSizes::MOST_LISTED).prop_map(|sizes| MoldSizes::list(sizes).unwrap()),
        (1..=u32::MAX, 1..=u32::MAX).prop_map(|(a, b)| MoldSizes::range(a.min(b), a.max(b)).unwrap()),
    ]
}

fn any_probability() -> impl Strategy<Value = SuccessProbability> {
    prop_oneof![Just(SuccessProbability::Best), (1..u64::MAX).prop_map(|part| SuccessProbability::AtLeast(part as f64 / 2.0_f64.powi(65))),]
}

fn any_window() -> impl Strategy<Value = Window> {
    (0..i64::MAX, 0..i64::MAX).prop_map(|(one, other)| Window { earliest: UnixTime(one.min(other)), latest: UnixTime(one.max(other) + 1) })
}

fn any_asked() -> impl Strategy<Value = UserOptions> {
    let sizes = (any::<bool>(), prop::option::of(any_mold_sizes()));
    let reservation = (
        prop::option::of(0..=i64::MAX),
        prop::option::of(any_probability()),
        prop::option::of(prop_oneof![Just(EarlyStart::Wait), Just(EarlyStart::Run)]),
        prop::option::of(prop_oneof![Just(IfMissed::Run), Just(IfMissed::Cancel)]),
        any::<bool>(),
    );
    let slot = (
        prop::option::of((any_window(), any::<bool>())),
        prop::option::of(0..=i64::MAX),
        prop::option::of(prop_oneof![Just(IfRefused::Run), Just(IfRefused::Cancel)]),
    );
    let deferral = (any::<bool>(), prop::option::of(0..=i64::MAX));
    let mode = prop::option::of(prop_oneof![Just(Mode::Off), Just(Mode::Observe), Just(Mode::Advise), Just(Mode::Enforce)]);
    (sizes, reservation, slot, deferral, mode).prop_map(|(sizes, reservation, slot, deferral, mode)| {
        let (window, reserve_notice, if_refused) = slot;
        let (auto_mold, mold_sizes) = sizes;
        let (reserve_at, success_probability, early_start, if_missed, shell_at_once) = reservation;
        let (auto_defer, max_defer) = deferral;
        UserOptions {
            auto_mold,
            mold_sizes,
            reserve_at,
            success_probability,
            early_start,
            if_missed,
            shell_at_once,
            reserve_window: window.map(|(window, _)| window),
            is_default_window: window.is_some_and(|(_, is_default)| is_default),
            reserve_notice,
            if_refused,
            auto_defer,
            max_defer,
            mode,
        }
    })
}

proptest! {
    #[test]
    fn canonical_values_are_read_back_as_they_were(asked in any_asked()) {
        let mut read = UserOptions::default();
        for (variable, value) in asked.canonical() {
            prop_assert_eq!(read.set(variable, &value), Ok(()));
        }
        prop_assert_eq!(asked.is_empty(), asked == UserOptions::default());
        prop_assert_eq!(read, asked);
    }

    #[test]
    fn forgetting_every_option_leaves_nothing(asked in any_asked()) {
        let mut asked = asked;
        for option in &OPTIONS {
            asked.unset(option.key);
        }
        prop_assert!(asked.is_empty());
    }

    #[test]
    fn any_bytes_are_read_or_refused_without_a_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        text in "[0-9,.e+-]{0,40}|[0-9]{1,20},[0-9]{1,20}(,default)?|\\PC{0,40}",
    ) {
        let lossy = String::from_utf8_lossy(&bytes);
        let mut asked = UserOptions::default();
        for option in &OPTIONS {
            let _ = asked.set(option.variable, &lossy);
            let _ = asked.set(option.variable, &text);
        }
        let _ = asked.set(&lossy, &text);
        if let Some(SuccessProbability::AtLeast(probability)) = asked.success_probability {
            prop_assert!(probability > 0.0 && probability < 1.0);
        }
        prop_assert!(asked.reserve_at.is_none_or(|moment| moment >= 0));
        prop_assert!(asked.reserve_window.is_none_or(|window| window.earliest.0 >= 0 && window.length().0 > 0));
        prop_assert!(asked.reserve_notice.is_none_or(|notice| notice >= 0));
        prop_assert!(asked.max_defer.is_none_or(|delay| delay >= 0));
    }
}
