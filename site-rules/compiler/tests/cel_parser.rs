//! What is known of the parser of `cel`, and what our bounds and our stack rest on.

#![allow(clippy::unwrap_used)]

use cel::parser::Parser;
use rules_compiler::expression::parse;

fn parses(text: &str, stack: usize) -> bool {
    let text = text.to_owned();
    let thread = std::thread::Builder::new().stack_size(stack);
    thread.spawn(move || Parser::new().enable_optional_syntax(true).parse(&text).is_ok()).unwrap().join().unwrap()
}

/// What is as deep or as long as an expression may be.
fn extremes() -> [String; 8] {
    let deep = parse::DEEPEST;
    [
        format!("{}1{}", "(".repeat(deep), ")".repeat(deep)),
        format!("{}1{}", "[".repeat(deep), "]".repeat(deep)),
        format!("{}'a'{}", "string(".repeat(deep), ")".repeat(deep)),
        format!("{}true{}", "(true ? ".repeat(deep), " : false)".repeat(deep)),
        "1+".repeat(parse::LONGEST / 2 - 1) + "1",
        "a".to_owned() + &".b".repeat(parse::LONGEST / 2 - 1),
        "a".to_owned() + &"[0]".repeat(parse::LONGEST / 3 - 1),
        "a&&".repeat(parse::LONGEST / 3 - 1) + "a",
    ]
}

#[test]
fn what_is_allowed_takes_an_eighth_of_the_stack_at_the_most() {
    // Without optimisation they take more than 2 MiB and less than 4; "1 == 1" more than 128 KiB.
    for text in extremes() {
        assert!(parses(&text, parse::STACK / 8), "{text}");
    }
}

#[test]
fn the_parser_refuses_short_garbage_without_taking_the_memory_for_it() {
    // The text is that of cel's issue 306: 125 bytes that took its parser 1.1 GB, until it bounded
    // its recovery from errors.
    let text = "!!(!!!!!!(!!!!(((((!!(!!(!!!!((".repeat(4) + "1";
    assert_eq!(text.len(), 125);
    assert!(!parses(&text, parse::STACK));
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let kibibytes: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(kibibytes < 256 << 10, "{kibibytes} KiB");
}

#[test]
fn the_parser_checks_no_types() {
    assert!(parses("1 + 'a' && job.no_such_field(2)", parse::STACK));
}
