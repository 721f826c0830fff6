//! The `[[firm]]` tables: to whom the site gives firm slots, and which.

use std::fmt;

use serde::de::value::SeqAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};

use super::value::{Count, Duration, Fraction, Names};
use crate::duration::{DAY_SECONDS, MINUTE_SECONDS};
use job_types::firm::{FirmPolicy, MostActive};
use job_types::time::Seconds;
use job_types::window::FARTHEST_AHEAD;

/// A submission is held against one after the other.
const MOST_TABLES: usize = 64;

const FARTHEST_SECONDS: i64 = FARTHEST_AHEAD.0;

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct FirmTable {
    partitions: Option<Names>,
    users: Option<Names>,
    accounts: Option<Names>,
    qos: Option<Names>,
    ahead: Option<Duration<MINUTE_SECONDS, FARTHEST_SECONDS>>,
    longest: Option<Duration<MINUTE_SECONDS, FARTHEST_SECONDS>>,
    most_nodes: Option<Count<1, 1_000_000>>,
    most_active: MostActiveTable,
    share: Option<Fraction<1, 1_000>>,
    node_hours: Option<Count<1, 1_000_000_000>>,
    least_availability: Option<Fraction<0, 1_000>>,
    most_delayed_jobs: Option<Count<0, 1_000_000>>,
    most_delay: Option<Duration<0, FARTHEST_SECONDS>>,
    notice: Option<Duration<MINUTE_SECONDS, { 7 * DAY_SECONDS }>>,
    idle: Option<Duration<MINUTE_SECONDS, DAY_SECONDS>>,
    slots: Option<Count<1, 100>>,
    gap: Option<Duration<MINUTE_SECONDS, DAY_SECONDS>>,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a table of `user`, `account` and `site`")]
struct MostActiveTable {
    user: Option<Count<1, 1_000>>,
    account: Option<Count<1, 1_000>>,
    site: Option<Count<1, 1_000>>,
}

/// No more tables than a submission is held against.
pub(super) fn tables<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<FirmTable>, D::Error> {
    let tables = deserializer.deserialize_seq(Tables)?;
    if tables.len() > MOST_TABLES {
        return Err(D::Error::custom(format_args!("there are {} [[firm]] tables: use at most {MOST_TABLES}", tables.len())));
    }
    Ok(tables)
}

/// Reads a list of tables, and says how one is written to those who wrote `[firm]`.
struct Tables;

impl<'de> Visitor<'de> for Tables {
    type Value = Vec<FirmTable>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[[firm]], with two brackets on either side")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, tables: A) -> Result<Vec<FirmTable>, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(tables))
    }
}

impl FirmTable {
    /// The table's keys, and the defaults where it has none.
    pub(super) fn complete(self) -> FirmPolicy {
        let default = FirmPolicy::default();
        let names = |names: Option<Names>| names.map(|Names(names)| names);
        FirmPolicy {
            partitions: names(self.partitions),
            users: names(self.users),
            accounts: names(self.accounts),
            qos: names(self.qos),
            ahead: self.ahead.map_or(default.ahead, |duration| Seconds(duration.0)),
            longest: self.longest.map(|duration| Seconds(duration.0)),
            most_nodes: self.most_nodes.map(small),
            most_active: MostActive {
                user: self.most_active.user.map(small),
                account: self.most_active.account.map(small),
                site: self.most_active.site.map_or(default.most_active.site, small),
            },
            share: self.share.map_or(default.share, |fraction| fraction.0),
            most_node_hours: self.node_hours.map(|count| count.0),
            least_availability: self.least_availability.map_or(default.least_availability, |fraction| fraction.0),
            most_delayed_jobs: self.most_delayed_jobs.map(small),
            most_delay: self.most_delay.map(|duration| Seconds(duration.0)),
            notice: self.notice.map_or(default.notice, |duration| Seconds(duration.0)),
            idle: self.idle.map_or(default.idle, |duration| Seconds(duration.0)),
            slots: self.slots.map_or(default.slots, small),
            gap: self.gap.map_or(default.gap, |duration| Seconds(duration.0)),
        }
    }
}

/// A count whose range ends far below what 32 bits hold.
fn small<const LEAST: u64, const MOST: u64>(count: Count<LEAST, MOST>) -> u32 {
    u32::try_from(count.0).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use proptest::prelude::*;

    use super::*;
    use crate::{Configuration, ConfigurationError};

    const PATH: &str = "/somewhere/queuecast.toml";

    fn parse(text: &str) -> Result<Vec<FirmPolicy>, ConfigurationError> {
        Configuration::parse(text, Path::new(PATH)).map(|configuration| configuration.firm)
    }

    fn complaint(text: &str) -> String {
        parse(text).unwrap_err().to_string()
    }

    #[test]
    fn without_a_table_there_is_no_policy_and_an_empty_one_is_the_default() {
        assert_eq!(parse(""), Ok(Vec::new()));
        assert_eq!(parse("[[firm]]"), Ok(vec![FirmPolicy::default()]));
    }

    #[test]
    fn every_key_of_a_table_is_taken() {
        let text = r#"
            [[firm]]
            partitions = ["batch", "gpu"]
            users = ["alice"]
            accounts = ["physics"]
            qos = ["urgent"]
            ahead = "14d"
            longest = "7-0"
            most_nodes = 128
            most_active = { user = 2, account = 8, site = 32 }
            share = 0.15
            node_hours = 5000
            least_availability = 0.8
            most_delayed_jobs = 10
            most_delay = "2h"
            notice = "1h"
            idle = "15m"
            slots = 50
            gap = "10m"
            [[firm]]
            most_active.user = 1
        "#;
        let names = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect());
        let first = FirmPolicy {
            partitions: names(&["batch", "gpu"]),
            users: names(&["alice"]),
            accounts: names(&["physics"]),
            qos: names(&["urgent"]),
            ahead: Seconds(14 * DAY_SECONDS),
            longest: Some(Seconds(7 * DAY_SECONDS)),
            most_nodes: Some(128),
            most_active: MostActive { user: Some(2), account: Some(8), site: 32 },
            share: 0.15,
            most_node_hours: Some(5_000),
            least_availability: 0.8,
            most_delayed_jobs: Some(10),
            most_delay: Some(Seconds(7_200)),
            notice: Seconds(3_600),
            idle: Seconds(900),
            slots: 50,
            gap: Seconds(600),
        };
        let second = FirmPolicy { most_active: MostActive { user: Some(1), account: None, site: 64 }, ..FirmPolicy::default() };
        assert_eq!(parse(text), Ok(vec![first, second]));
    }

    #[test]
    fn a_wrong_value_is_told_with_its_line_and_with_what_is_allowed() {
        let cases = [
            ("partitions = []", "a list of 0 names is not allowed: use 1 to 1000 names"),
            ("users = [\"a b\"]", "\"a b\" is not allowed: use names without blanks, each once"),
            ("accounts = [\"\"]", "names without blanks"),
            ("qos = [\"high\", \"high\"]", "each once"),
            ("users = \"alice\"", "expected a sequence"),
            ("ahead = \"367d\"", "a duration from 1m to 366d"),
            ("longest = \"0\"", "a duration from 1m to 366d"),
            ("most_nodes = 0", "a whole number from 1 to 1000000"),
            ("most_active = 3", "expected a table of `user`, `account` and `site`"),
            ("most_active = { site = 0 }", "a whole number from 1 to 1000"),
            ("most_active = { sites = 3 }", "unknown field `sites`, expected one of `user`, `account`, `site`"),
            ("share = 0", "a number from 0.001 to 1"),
            ("share = 15", "a number from 0.001 to 1"),
            ("node_hours = 0.5", "expected i64"),
            ("least_availability = nan", "a number from 0 to 1"),
            ("most_delayed_jobs = -1", "a whole number from 0 to 1000000"),
            ("most_delay = \"never\"", "is not a duration"),
            ("notice = \"8d\"", "a duration from 1m to 7d"),
            ("idle = \"1s\"", "a duration from 1m to 1d"),
            ("slots = 101", "a whole number from 1 to 100"),
            ("gap = \"59s\"", "a duration from 1m to 1d"),
            ("node_hour = 5", "unknown field `node_hour`, expected one of `partitions`"),
        ];
        for (line, allowed) in cases {
            let complaint = complaint(&format!("[[firm]]\nusers = [\"x\"]\n\n[[firm]]\n{line}\n"));
            assert!(complaint.starts_with(&format!("{PATH}:5: ")), "{line:?}: {complaint}");
            assert!(complaint.contains(allowed), "{line:?}: {complaint}");
            assert!(!complaint.contains('\n'), "{complaint}");
        }
        let one_table = complaint("[log]\n[firm]\nslots = 3");
        assert!(one_table.starts_with(&format!("{PATH}:2: invalid type: map, expected [[firm]], with two brackets")), "{one_table}");
    }

    #[test]
    fn a_table_behind_one_that_is_about_everybody_is_an_error() {
        let told = complaint("[[firm]]\nusers = [\"alice\"]\n[[firm]]\nslots = 3\n[[firm]]\nqos = [\"high\"]");
        assert!(told.ends_with("[[firm]] table 2 is about everybody, so that none behind it counts: put it last"), "{told}");
    }

    #[test]
    fn there_are_no_more_tables_and_names_than_can_be_looked_through() {
        assert_eq!(parse(&"[[firm]]\nusers = [\"x\"]\n".repeat(64)).map(|tables| tables.len()), Ok(64));
        let told = complaint(&"[[firm]]\nusers = [\"x\"]\n".repeat(65));
        assert!(told.contains("there are 65 [[firm]] tables: use at most 64"), "{told}");
        let users = |count: usize| format!("[[firm]]\nusers = {:?}", (0..count).map(|user| format!("u{user}")).collect::<Vec<_>>());
        assert!(parse(&users(1_000)).is_ok());
        assert!(complaint(&users(1_001)).contains("a list of 1001 names is not allowed"));
    }

    #[test]
    fn the_example_shows_every_key_and_the_defaults_of_those_that_have_one() {
        let example = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../etc/queuecast.toml")).unwrap();
        let shown = example.lines().skip_while(|line| *line != "#[[firm]]").skip(1).take_while(|line| !line.starts_with('['));
        let shown: Vec<&str> =
            shown.filter_map(|line| line.strip_prefix('#')).filter(|line| !line.starts_with(' ') && !line.is_empty()).collect();
        assert_eq!(parse(&format!("[[firm]]\n{}", shown.join("\n"))).map(|tables| tables.len()), Ok(1));

        let unknown = complaint("[[firm]]\nno_such_key = 1");
        let known = unknown.split("expected one of ").nth(1).unwrap().split(" (in ").next().unwrap();
        let keys: BTreeSet<&str> = shown.iter().map(|line| line.split(" = ").next().unwrap()).collect();
        assert_eq!(keys, known.split(", ").map(|key| key.trim_matches('`')).collect());

        let are_limits = ["longest", "most_nodes", "most_active", "node_hours", "most_delayed_jobs", "most_delay"];
        let match_names = ["partitions", "users", "accounts", "qos"];
        for line in &shown {
            let key = line.split(" = ").next().unwrap();
            let is_default = parse(&format!("[[firm]]\n{line}")) == Ok(vec![FirmPolicy::default()]);
            assert_eq!(is_default, !are_limits.contains(&key) && !match_names.contains(&key), "{line}");
        }
    }

    proptest! {
        #[test]
        fn any_table_is_read_or_refused_without_a_panic(
            key in proptest::sample::select(vec!["ahead", "share", "node_hours", "most_active.site", "users", "notice", "slots"]),
            value in "-?[0-9]{1,20}|[0-9]\\.[0-9]{1,4}|\"[0-9]{1,12}[smhd]\"|\\[\"[a-z]{0,3}\"\\]|nan|inf|\\PC{0,9}",
        ) {
            if let Ok(tables) = parse(&format!("[[firm]]\n{key} = {value}")) {
                prop_assert_eq!(tables.len(), 1);
            }
        }
    }
}
