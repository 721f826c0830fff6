//! Writes a record as JSON, field by field.
//!
//! It says what the derived serializer says, which the command line uses, and a test holds the one
//! against the other. What it saves is a good part of the time that a decision takes where it is
//! made, in slurmctld: one allocation and no passing of each value through a serializer.

use super::{Affiliation, AskedFor, Changed, Forecast, MOST_BYTES, Record, Written};
use crate::options::{IfMissed, IfRefused};
use crate::slot::SlotTold;
use arrayvec::ArrayVec;
use std::fmt::Write;

/// The record under its key.
pub(super) fn envelope(record: &Record) -> String {
    let mut text = String::with_capacity(MOST_BYTES);
    text.push_str("{\"queuecast\":");
    write_record(&mut text, record);
    text.push('}');
    text
}

/// An object that is being written.
struct Object<'a> {
    text: &'a mut String,
    is_empty: bool,
}

impl<'a> Object<'a> {
    fn new(text: &'a mut String) -> Object<'a> {
        text.push('{');
        Object { text, is_empty: true }
    }

    /// Begins a field and returns where its value goes. The name has nothing that JSON escapes.
    fn field(&mut self, name: &'static str) -> &mut String {
        self.text.push_str(if self.is_empty { "\"" } else { ",\"" });
        self.is_empty = false;
        self.text.push_str(name);
        self.text.push_str("\":");
        self.text
    }

    fn number(&mut self, name: &'static str, number: i64) {
        write_number(self.field(name), number);
    }

    fn number_if(&mut self, name: &'static str, number: Option<i64>) {
        if let Some(number) = number {
            self.number(name, number);
        }
    }

    fn small_number_if(&mut self, name: &'static str, number: Option<u32>) {
        self.number_if(name, number.map(i64::from));
    }

    fn probability_if(&mut self, name: &'static str, probability: Option<f64>) {
        let Some(probability) = probability else { return };
        let text = self.field(name);
        // Writing into a string does not fail.
        let _ = if probability.is_finite() { write!(text, "{probability:?}") } else { write!(text, "null") };
    }

    fn true_if(&mut self, name: &'static str, flag: bool) {
        if flag {
            self.field(name).push_str("true");
        }
    }

    fn end(self) {
        self.text.push('}');
    }
}

fn write_record(text: &mut String, record: &Record) {
    let Record { version, generation, at, nonce, mode, asked, affiliation, written, changed, forecast, instead_of, left } = record;
    let mut object = Object::new(text);
    object.number("version", i64::from(*version));
    write_digits(object.field("generation"), *generation);
    object.number("at", at.0);
    if let Some(nonce) = nonce {
        write_digits(object.field("nonce"), *nonce);
    }
    write_text(object.field("mode"), mode.as_str());
    write_asked(object.field("asked"), asked);
    if let Some(affiliation) = affiliation {
        write_affiliation(object.field("affiliation"), affiliation);
    }
    if let Some(written) = written {
        write_written(object.field("written"), written);
    }
    if let Some(changed) = changed {
        write_changed(object.field("changed"), changed);
    }
    if let Some(forecast) = forecast {
        write_forecast(object.field("forecast"), forecast);
    }
    if let Some(forecast) = instead_of {
        write_forecast(object.field("instead_of"), forecast);
    }
    if !left.is_empty() {
        write_list(object.field("left"), left, |text, reason| write_text(text, reason));
    }
    object.end();
}

fn write_asked(text: &mut String, asked: &AskedFor) {
    let AskedFor { nodes, cpus, tasks, limit_s, deadline, options } = asked;
    let mut object = Object::new(text);
    object.number("nodes", i64::from(*nodes));
    object.number("cpus", i64::from(*cpus));
    object.small_number_if("tasks", *tasks);
    object.number_if("limit_s", *limit_s);
    object.number_if("deadline", *deadline);
    if !options.is_empty() {
        write_list(object.field("options"), options, |text, (variable, value)| {
            text.push('[');
            write_text(text, variable);
            text.push(',');
            write_text(text, value);
            text.push(']');
        });
    }
    object.end();
}

fn write_affiliation(text: &mut String, affiliation: &Affiliation) {
    let Affiliation { partition, account, qos } = affiliation;
    let mut object = Object::new(text);
    for (name, value) in [("partition", partition), ("account", account), ("qos", qos)] {
        if let Some(value) = value {
            write_text(object.field(name), value);
        }
    }
    object.end();
}

fn write_written(text: &mut String, written: &Written) {
    let Written { nodes, cpus, tasks, limit_s, begin, reserved_at, hold_until, own_limit_s, .. } = written;
    let Written { admitted_by, deadline, wanted, if_missed, window, notice_s, if_refused, .. } = written;
    let mut object = Object::new(text);
    object.small_number_if("nodes", *nodes);
    object.small_number_if("cpus", *cpus);
    object.small_number_if("tasks", *tasks);
    object.number_if("limit_s", *limit_s);
    object.number_if("begin", *begin);
    object.number_if("reserved_at", *reserved_at);
    object.number_if("hold_until", *hold_until);
    object.number_if("own_limit_s", *own_limit_s);
    if let Some(rule) = admitted_by {
        write_text(object.field("admitted_by"), rule.as_str());
    }
    object.number_if("deadline", *deadline);
    object.probability_if("wanted", *wanted);
    match if_missed {
        IfMissed::Run => {}
        IfMissed::Cancel => write_text(object.field("if_missed"), "cancel"),
    }
    if let Some((earliest, latest)) = window {
        write_list(object.field("window"), &[*earliest, *latest], |text, moment| write_number(text, *moment));
    }
    object.number_if("notice_s", *notice_s);
    match if_refused {
        IfRefused::Run => {}
        IfRefused::Cancel => write_text(object.field("if_refused"), "cancel"),
    }
    object.end();
}

fn write_changed(text: &mut String, changed: &Changed) {
    let Changed { count, at, begin, limit_s, probability, missed, withdrawn, stopped, .. } = changed;
    let Changed { site_factor, added, priority, deadline_probability, told_restarts, late, nodes, cpus, ended, slot, .. } = changed;
    let mut object = Object::new(text);
    object.number("count", i64::from(*count));
    object.number("at", at.0);
    object.number_if("begin", *begin);
    object.number_if("limit_s", *limit_s);
    object.probability_if("probability", *probability);
    object.true_if("missed", *missed);
    object.true_if("withdrawn", *withdrawn);
    object.true_if("stopped", *stopped);
    object.number_if("site_factor", *site_factor);
    object.number_if("added", *added);
    object.small_number_if("priority", *priority);
    object.probability_if("deadline_probability", *deadline_probability);
    object.small_number_if("told_restarts", *told_restarts);
    object.number_if("late", *late);
    object.small_number_if("nodes", *nodes);
    object.small_number_if("cpus", *cpus);
    if let Some(ended) = ended {
        write_text(object.field("ended"), ended.name());
    }
    if let Some(slot) = slot {
        write_slot(object.field("slot"), slot);
    }
    object.end();
}

fn write_slot(text: &mut String, slot: &SlotTold) {
    let SlotTold { state, start, moved, why } = slot;
    let mut object = Object::new(text);
    write_text(object.field("state"), state.name());
    object.number_if("start", *start);
    if *moved > 0 {
        object.number("moved", i64::from(*moved));
    }
    if let Some(why) = why {
        write_text(object.field("why"), why);
    }
    object.end();
}

fn write_forecast(text: &mut String, forecast: &Forecast) {
    let Forecast { wait_s, wait_95_s, wait_jobs, wait_from, run_s, run_range_s, run_jobs, reservation_probability, deadline_probability } =
        forecast;
    let mut object = Object::new(text);
    object.number_if("wait_s", *wait_s);
    object.number_if("wait_95_s", *wait_95_s);
    object.number("wait_jobs", i64::from(*wait_jobs));
    if let Some(source) = wait_from {
        write_text(object.field("wait_from"), source.name());
    }
    object.number("run_s", *run_s);
    write_list(object.field("run_range_s"), &[run_range_s.0, run_range_s.1], |text, seconds| write_number(text, *seconds));
    object.number("run_jobs", i64::from(*run_jobs));
    object.probability_if("reservation_probability", *reservation_probability);
    object.probability_if("deadline_probability", *deadline_probability);
    object.end();
}

fn write_list<T>(text: &mut String, items: &[T], write_item: impl Fn(&mut String, &T)) {
    text.push('[');
    for (place, item) in items.iter().enumerate() {
        if place > 0 {
            text.push(',');
        }
        write_item(text, item);
    }
    text.push(']');
}

fn write_number(text: &mut String, number: i64) {
    if number < 0 {
        text.push('-');
    }
    write_digits(text, number.unsigned_abs());
}

/// A whole number. The formatting of the standard library does the same through more code, and at a
/// submission most of what code costs is that it has to be read from memory.
fn write_digits(text: &mut String, number: u64) {
    let mut digits: ArrayVec<u8, 20> = ArrayVec::new();
    let mut rest = number;
    loop {
        // A number of 64 bits has no more than 20 digits.
        let _ = digits.try_push((rest % 10) as u8);
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    text.extend(digits.iter().rev().map(|digit| char::from(b'0' + digit)));
}

/// A string, with what JSON does not take as it is escaped.
fn write_text(text: &mut String, value: &str) {
    text.push('"');
    let mut rest = value;
    while let Some(place) = rest.find(|character: char| character < ' ' || character == '"' || character == '\\') {
        let (plain, from) = rest.split_at(place);
        text.push_str(plain);
        let mut characters = from.chars();
        let _ = match characters.next() {
            Some('"') => text.write_str("\\\""),
            Some('\\') => text.write_str("\\\\"),
            Some('\n') => text.write_str("\\n"),
            Some('\r') => text.write_str("\\r"),
            Some('\t') => text.write_str("\\t"),
            Some('\u{8}') => text.write_str("\\b"),
            Some('\u{c}') => text.write_str("\\f"),
            Some(control) => write!(text, "\\u{:04x}", u32::from(control)),
            None => Ok(()),
        };
        rest = characters.as_str();
    }
    text.push_str(rest);
    text.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Mode;
    use crate::policy::Admission;
    use crate::record::{EndOfPromise, WaitSource};
    use crate::slot::SlotState;
    use crate::time::UnixTime;
    use proptest::option::of;
    use proptest::prelude::*;
    use serde::Serialize;

    #[derive(Serialize)]
    struct Envelope<'a> {
        queuecast: &'a Record,
    }

    fn text() -> impl Strategy<Value = String> {
        prop_oneof![".{0,40}", prop::collection::vec(0u8..128, 0..20).prop_map(|bytes| bytes.into_iter().map(char::from).collect())]
    }

    prop_compose! {
        fn asked()(
            (nodes, cpus, tasks) in any::<(u32, u32, Option<u32>)>(), (limit_s, deadline) in any::<(Option<i64>, Option<i64>)>(),
            options in prop::collection::vec((text(), text()), 0..4),
        ) -> AskedFor {
            AskedFor { nodes, cpus, tasks, limit_s, deadline, options }
        }
    }

    prop_compose! {
        fn affiliation()((partition, account, qos) in (of(text()), of(text()), of(text()))) -> Affiliation {
            Affiliation { partition, account, qos }
        }
    }

    prop_compose! {
        fn written()(
            (nodes, cpus, tasks) in any::<(Option<u32>, Option<u32>, Option<u32>)>(),
            (limit_s, begin, reserved_at, hold_until) in any::<(Option<i64>, Option<i64>, Option<i64>, Option<i64>)>(),
            (own_limit_s, deadline) in any::<(Option<i64>, Option<i64>)>(),
            admitted_by in of(prop::sample::select(Admission::ALL.to_vec())), wanted in of(0u8..=100),
            if_missed in prop_oneof![Just(IfMissed::Run), Just(IfMissed::Cancel)],
            (window, notice_s) in any::<(Option<(i64, i64)>, Option<i64>)>(),
            if_refused in prop_oneof![Just(IfRefused::Run), Just(IfRefused::Cancel)],
        ) -> Written {
            let wanted = wanted.map(|percent| f64::from(percent) / 100.0);
            Written {
                nodes, cpus, tasks, limit_s, begin, reserved_at, hold_until, own_limit_s, admitted_by, deadline, wanted, if_missed,
                window, notice_s, if_refused,
            }
        }
    }

    prop_compose! {
        fn slot()(
            state in prop::sample::select(SlotState::ALL.to_vec()), (start, moved) in any::<(Option<i64>, u32)>(), why in of(text()),
        ) -> SlotTold {
            SlotTold { state, start, moved, why }
        }
    }

    prop_compose! {
        fn changed()(
            (count, at, begin, limit_s) in any::<(u32, i64, Option<i64>, Option<i64>)>(), probability in of(0u8..=100),
            (missed, withdrawn, stopped) in any::<(bool, bool, bool)>(), told in of(0u8..=100),
            (site_factor, added, late) in any::<(Option<i64>, Option<i64>, Option<i64>)>(),
            (priority, told_restarts) in any::<(Option<u32>, Option<u32>)>(),
            (nodes, cpus) in any::<(Option<u32>, Option<u32>)>(),
            ended in of(prop::sample::select(vec![EndOfPromise::MadeLarger, EndOfPromise::BeyondLimits, EndOfPromise::Other])),
            slot in of(slot()),
        ) -> Changed {
            let part = |percent: u8| f64::from(percent) / 100.0;
            let (probability, deadline_probability) = (probability.map(part), told.map(part));
            Changed {
                count, at: UnixTime(at), begin, limit_s, probability, missed, withdrawn, stopped, site_factor, added, priority,
                deadline_probability, told_restarts, late, nodes, cpus, ended, slot,
            }
        }
    }

    prop_compose! {
        fn forecast()(
            (wait_s, wait_95_s, wait_jobs) in any::<(Option<i64>, Option<i64>, u32)>(), wait_from in of(prop::sample::select(WaitSource::ALL.to_vec())),
            (run_s, run_range_s, run_jobs) in any::<(i64, (i64, i64), u32)>(),
            (reservation, deadline) in (of(0u8..=100), of(0u8..=100)),
        ) -> Forecast {
            let [reservation_probability, deadline_probability] =
                [reservation, deadline].map(|percent| percent.map(|percent| f64::from(percent) / 100.0));
            Forecast {
                wait_s, wait_95_s, wait_jobs, wait_from, run_s, run_range_s, run_jobs, reservation_probability, deadline_probability,
            }
        }
    }

    prop_compose! {
        fn record()(
            (version, generation, at, nonce) in any::<(u32, u64, i64, Option<u64>)>(),
            mode in prop_oneof![Just(Mode::Off), Just(Mode::Observe), Just(Mode::Advise), Just(Mode::Enforce)],
            asked in asked(), affiliation in of(affiliation()), written in of(written()), changed in of(changed()), forecast in of(forecast()), instead_of in of(forecast()),
            left in prop::collection::vec(text(), 0..4),
        ) -> Record {
            Record { version, generation, at: UnixTime(at), nonce, mode, asked, affiliation, written, changed, forecast, instead_of, left }
        }
    }

    proptest! {
        #[test]
        fn a_record_is_written_as_the_serializer_writes_it(record in record()) {
            prop_assert_eq!(envelope(&record), serde_json::to_string(&Envelope { queuecast: &record }).unwrap());
        }
    }

    #[test]
    fn a_probability_that_is_not_a_number_is_null() {
        let mut text = String::new();
        write_forecast(&mut text, &Forecast { deadline_probability: Some(f64::NAN), ..Forecast::default() });
        assert!(text.ends_with("\"deadline_probability\":null}"), "{text}");
    }
}
