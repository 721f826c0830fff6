//! Expressions of right types, made of choices.

use site_rules::value::Kind;

/// Choices that are made one after the other, all 0 behind the last; and whether there may be forms
/// that the interpreter of the crate `cel` does not have.
pub(crate) struct Choices<'c>(pub(crate) std::slice::Iter<'c, u16>, pub(crate) bool);

impl Choices<'_> {
    fn of(&mut self, count: usize) -> usize {
        usize::from(self.0.next().copied().unwrap_or(0)) % count
    }

    fn one<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        texts[self.of(texts.len())]
    }
}

/// The text of an expression of a kind; `elements` are the variables of the loops that it is in.
pub(crate) fn expression(kind: Kind, depth: usize, elements: &[String], choices: &mut Choices<'_>) -> String {
    if depth == 0 {
        return atom(kind, elements, choices);
    }
    let choice = choices.of(16);
    if choice == 1 {
        return atom(kind, elements, choices);
    }
    if choice >= 12 {
        return made(kind, choice, depth - 1, elements, choices).unwrap_or_else(|| atom(kind, elements, choices));
    }
    let mut of = |kind: Kind| expression(kind, depth - 1, elements, choices);
    if choice == 0 {
        return format!("({} ? {} : {})", of(Kind::Truth), of(kind), of(kind));
    }
    match kind {
        Kind::Truth => match choice {
            2 => format!("({} && {})", of(Kind::Truth), of(Kind::Truth)),
            3 => format!("({} || {})", of(Kind::Truth), of(Kind::Truth)),
            4 => format!("(!{})", of(Kind::Truth)),
            5 => {
                let kinds = [Kind::Integer, Kind::Real, Kind::Text, Kind::Duration, Kind::Moment, Kind::Truth];
                let kind = kinds[choices.of(kinds.len())];
                let operator = choices.one(&["==", "!=", "<", "<=", ">", ">="]);
                let mut of = |kind| expression(kind, depth - 1, elements, choices);
                format!("({} {operator} {})", of(kind), of(kind))
            }
            6 => {
                let function = choices.one(&["startsWith", "endsWith", "contains"]);
                let mut of = |kind| expression(kind, depth - 1, elements, choices);
                format!("{}.{function}({})", of(Kind::Text), of(Kind::Text))
            }
            7 => {
                let pattern = choices.one(&["^a", "b$", "[a-c]+", "^(x|ab)*$", "", "é", "."]);
                format!("{}.matches('{pattern}')", expression(Kind::Text, depth - 1, elements, choices))
            }
            8 | 9 => {
                let function = choices.one(&["all", "exists", "exists_one"]);
                let list = texts(choices);
                let variable = format!("v{}", elements.len());
                let mut within = elements.to_vec();
                within.push(variable.clone());
                format!("{list}.{function}({variable}, {})", expression(Kind::Truth, depth - 1, &within, choices))
            }
            10 => {
                let list = texts(choices);
                format!("({} in {list})", expression(Kind::Text, depth - 1, elements, choices))
            }
            _ => format!("({} in [1, {}, 4])", of(Kind::Integer), of(Kind::Integer)),
        },
        Kind::Integer => match choice {
            2..=5 => {
                let operator = choices.one(&["+", "-", "*", "/", "%"]);
                let mut of = |kind| expression(kind, depth - 1, elements, choices);
                format!("({} {operator} {})", of(kind), of(kind))
            }
            6 => format!("(-{})", of(Kind::Integer)),
            7 => format!("size({})", of(Kind::Text)),
            8 => format!("int({})", of(Kind::Real)),
            9 => format!("int({})", of(Kind::Text)),
            10 => {
                let part = choices.one(&[
                    "getFullYear",
                    "getMonth",
                    "getDate",
                    "getDayOfMonth",
                    "getDayOfWeek",
                    "getDayOfYear",
                    "getHours",
                    "getMinutes",
                    "getSeconds",
                    "getMilliseconds",
                ]);
                let zone = choices.one(&["", "'UTC'", "'Europe/Berlin'", "'+05:30'", "'-08:00'"]);
                // Changes of clocks are put down from 1970 to 2100 alone.
                let depth = if zone.contains("Berlin") { 0 } else { depth - 1 };
                format!("{}.{part}({zone})", expression(Kind::Moment, depth, elements, choices))
            }
            _ => {
                let part = choices.one(&["getHours", "getMinutes", "getSeconds"]);
                format!("{}.{part}()", expression(Kind::Duration, depth - 1, elements, choices))
            }
        },
        Kind::Real => match choice {
            2..=7 => {
                let operator = choices.one(&["+", "-", "*", "/"]);
                let mut of = |kind| expression(kind, depth - 1, elements, choices);
                format!("({} {operator} {})", of(kind), of(kind))
            }
            8 => format!("(-{})", of(Kind::Real)),
            9 => format!("double({})", of(Kind::Text)),
            _ => format!("double({})", of(Kind::Integer)),
        },
        Kind::Text => match choice {
            2..=5 => format!("({} + {})", of(Kind::Text), of(Kind::Text)),
            6 => format!("string({})", of(Kind::Integer)),
            7 => format!("string({})", of(Kind::Truth)),
            8 => format!("string({})", of(Kind::Duration)),
            9 => format!("string({})", of(Kind::Moment)),
            10 => format!("string({})", of(Kind::Real)),
            _ => format!("job.argv[{}]", of(Kind::Integer)),
        },
        Kind::Duration => match choice {
            2..=5 => format!("({} + {})", of(kind), of(kind)),
            6..=8 => format!("({} - {})", of(kind), of(kind)),
            _ => format!("({} - {})", of(Kind::Moment), of(Kind::Moment)),
        },
        Kind::Moment => match choice {
            2..=5 => format!("({} + {})", of(kind), of(Kind::Duration)),
            6..=8 => format!("({} - {})", of(kind), of(Kind::Duration)),
            _ => format!("({} + {})", of(Kind::Duration), of(kind)),
        },
        _ => texts(choices),
    }
}

/// What is made of lists that are made, of parts of texts, and of names for values.
fn made(kind: Kind, choice: usize, depth: usize, elements: &[String], choices: &mut Choices<'_>) -> Option<String> {
    let is_beyond = choices.1;
    let mut of = |kind: Kind| expression(kind, depth, elements, choices);
    Some(match (kind, choice) {
        (_, 15) if is_beyond => {
            let (variable, within) = variable(elements);
            let value = of(Kind::Text);
            format!("cel.bind({variable}, {value}, {})", expression(kind, depth, &within, choices))
        }
        (Kind::Truth, 12) => format!("({} in {})", of(Kind::Text), list(depth, elements, choices)),
        (Kind::Truth, 13) => {
            let list = list(depth, elements, choices);
            let (variable, within) = variable(elements);
            format!("{list}.exists({variable}, {})", expression(Kind::Truth, depth, &within, choices))
        }
        (Kind::Integer, 12) => format!("size({})", list(depth, elements, choices)),
        (Kind::Integer, 13) => {
            let (text, part) = (of(Kind::Text), of(Kind::Text));
            format!("{text}.{}({part})", choices.one(&["indexOf", "lastIndexOf"]))
        }
        (Kind::Integer, 14) if is_beyond => match choices.of(4) {
            0 => format!("job.{}({})", choices.one(&["gpuCount", "licenseCount"]), expression(Kind::Text, depth, elements, choices)),
            1 => {
                let mut of = |kind| expression(kind, depth, elements, choices);
                format!("math.least({}, {})", of(Kind::Integer), of(Kind::Integer))
            }
            _ => reduced(Kind::Integer, depth, elements, choices),
        },
        (Kind::Duration, 12) if is_beyond => format!("({} * {})", of(Kind::Duration), of(Kind::Integer)),
        (Kind::Duration, 13) if is_beyond => format!("({} / {})", of(Kind::Duration), of(Kind::Real)),
        (Kind::Duration | Kind::Real, 14) if is_beyond => reduced(kind, depth, elements, choices),
        (Kind::Text, 12) => format!("{}.join({})", list(depth, elements, choices), choices.one(&["", "','", "'ab'"])),
        (Kind::Text, 13) => format!("{}.replace({}, {})", of(Kind::Text), of(Kind::Text), of(Kind::Text)),
        (Kind::Text, _) => {
            let (text, begin, end) = (of(Kind::Text), of(Kind::Integer), of(Kind::Integer));
            match choices.of(3) {
                0 => format!("{text}.substring({begin}, {end})"),
                1 => format!("{text}.substring({begin})"),
                _ => format!("{text}.charAt({begin})"),
            }
        }
        _ => return None,
    })
}

/// One value of a list of numbers or durations.
fn reduced(kind: Kind, depth: usize, elements: &[String], choices: &mut Choices<'_>) -> String {
    let list = list(depth, elements, choices);
    let (variable, within) = variable(elements);
    let value = expression(kind, depth, &within, choices);
    format!("{list}.map({variable}, {value}).{}()", choices.one(&["sum", "min", "max"]))
}

/// A list of texts.
fn list(depth: usize, elements: &[String], choices: &mut Choices<'_>) -> String {
    if depth == 0 {
        return texts(choices);
    }
    let choice = choices.of(6);
    if choice == 0 {
        return texts(choices);
    }
    if choice == 1 {
        let text = expression(Kind::Text, depth - 1, elements, choices);
        return format!("{text}.split({})", choices.one(&["','", "''", "'ab'", "'1'"]));
    }
    let of = list(depth - 1, elements, choices);
    let (variable, within) = variable(elements);
    let mut body = |kind| expression(kind, depth - 1, &within, choices);
    match choice {
        2 => format!("{of}.map({variable}, {})", body(Kind::Text)),
        3 => format!("{of}.map({variable}, {}, {})", body(Kind::Truth), body(Kind::Text)),
        _ => format!("{of}.filter({variable}, {})", body(Kind::Truth)),
    }
}

/// A variable that is not there yet, and all that are there with it.
fn variable(elements: &[String]) -> (String, Vec<String>) {
    let variable = format!("v{}", elements.len());
    let mut within = elements.to_vec();
    within.push(variable.clone());
    (variable, within)
}

fn texts(choices: &mut Choices<'_>) -> String {
    choices.one(&["job.argv", "['a']", "['ab', 'b', '']", "['1', 'x', 'x']"]).to_owned()
}

fn atom(kind: Kind, elements: &[String], choices: &mut Choices<'_>) -> String {
    let literal = match kind {
        Kind::Truth => {
            choices.one(&["job.is_batch", "true", "false", "has(job.partition)", "has(job.min_nodes)", "(!has(job.time_limit))"])
        }
        Kind::Integer => choices.one(&["0", "1", "2", "3", "7", "100", "9223372036854775807", "(has(job.min_nodes) ? job.min_nodes : 5)"]),
        Kind::Real => choices.one(&["0.0", "1.0", "0.5", "2.25", "1e18", "1e300", "0.1"]),
        Kind::Text => match (choices.of(9), elements.last()) {
            (0 | 1, Some(element)) => element,
            (2 | 3, _) => "(has(job.partition) ? job.partition : 'none')",
            (other, _) => ["''", "'a'", "'ab'", "'12'", "'-7'", "'1.5'", "'é'", "'x'", "'b'"][other],
        },
        Kind::Duration => choices.one(&[
            "duration('1h30m')",
            "duration('-90s')",
            "duration('0')",
            "duration('2562047h')",
            "(has(job.time_limit) ? job.time_limit : duration('1m'))",
        ]),
        Kind::Moment => choices.one(&[
            "timestamp('2026-11-23T09:10:00Z')",
            "timestamp('2026-03-29T01:30:00Z')",
            "timestamp('1999-12-31T23:59:59Z')",
            "timestamp('2000-02-29T12:00:00Z')",
            "(has(job.begin_time) ? job.begin_time : timestamp('2024-07-01T00:00:00Z'))",
        ]),
        _ => return texts(choices),
    };
    literal.to_owned()
}
