//! What a log says of the machine that it is from.

use std::collections::BTreeMap;

/// The comments before the first job. Kept as they stand, so that a log can be written again; read
/// through the methods.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Header {
    lines: Vec<String>,
}

impl Header {
    /// A header with no lines.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a comment line: the text after the `;`, as it stands.
    pub(super) fn push_line(&mut self, text: &str) {
        self.lines.push(text.to_owned());
    }

    /// Adds `Key: value`. A line break would begin a job, so it becomes a space.
    pub fn push(&mut self, key: &str, value: &str) {
        self.lines.push(format!(" {key}: {value}").replace(['\n', '\r'], " "));
    }

    /// Says how many processors the machine has, in the place of what the log says.
    pub fn set_max_processors(&mut self, processors: u64) {
        let is_size = |line: &String| line.split_once(':').is_some_and(|(key, _)| key.trim().eq_ignore_ascii_case("MaxProcs"));
        self.lines.retain(|line| !is_size(line));
        self.push("MaxProcs", &processors.to_string());
    }

    /// The comment lines, each without its `;`.
    pub fn lines(&self) -> impl Iterator<Item = &str> {
        self.lines.iter().map(String::as_str)
    }

    /// Every value of a key, in order; keys are compared without regard to case.
    pub fn values<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a str> {
        self.lines.iter().filter_map(move |line| {
            let (name, value) = line.split_once(':')?;
            name.trim().eq_ignore_ascii_case(key).then(|| value.trim())
        })
    }

    /// Processors of the machine (`MaxProcs`; `MaxNodes` where that is missing).
    pub fn max_processors(&self) -> Option<u64> {
        self.leading_number("MaxProcs").or_else(|| self.max_nodes())
    }

    /// Nodes of the machine (`MaxNodes`).
    pub fn max_nodes(&self) -> Option<u64> {
        self.leading_number("MaxNodes")
    }

    /// The moment that submit time 0 stands for (`UnixStartTime`), in Unix seconds.
    pub fn unix_start_time(&self) -> Option<i64> {
        self.values("UnixStartTime").find_map(|value| value.split_whitespace().next()?.parse().ok())
    }

    /// What the queues' numbers stand for (`Queue: 3 normal`): the text after the number, which may
    /// be empty, without control characters, which a terminal would obey.
    pub fn queues(&self) -> BTreeMap<u64, String> {
        self.numbered("Queue")
    }

    /// What the partitions' numbers stand for (`Partition: 2  batch`).
    pub fn partitions(&self) -> BTreeMap<u64, String> {
        self.numbered("Partition")
    }

    /// The remarks of those who made the log (`Note`), without their continuation lines.
    pub fn notes(&self) -> impl Iterator<Item = &str> {
        self.values("Note")
    }

    fn leading_number(&self, key: &str) -> Option<u64> {
        self.values(key).find_map(|value| {
            let digits = value.split(|character: char| !character.is_ascii_digit()).next()?;
            digits.parse().ok().filter(|&number| number > 0)
        })
    }

    fn numbered(&self, key: &str) -> BTreeMap<u64, String> {
        self.values(key)
            .filter_map(|value| {
                let number = value.split_whitespace().next()?;
                let name = value.get(number.len()..)?;
                let name = name.trim().trim_start_matches("- ").replace(char::is_control, "");
                Some((number.parse().ok()?, name))
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{BTreeMap, Header};

    fn header(text: &str) -> Header {
        let mut header = Header::new();
        text.lines().for_each(|line| header.push_line(line));
        header
    }

    #[test]
    fn a_count_may_be_followed_by_a_remark() {
        let header = header("      MaxNodes: 32 (dual CPU)\n MaxProcs: 1664 (72, 1368, 224)");
        assert_eq!((header.max_nodes(), header.max_processors()), (Some(32), Some(1664)));
    }

    #[test]
    fn nodes_stand_in_for_processors_that_the_header_lacks() {
        assert_eq!(header(" MaxNodes: 100").max_processors(), Some(100));
        assert_eq!(header(" MaxProcs: -1").max_processors(), None);
    }

    #[test]
    fn a_size_that_is_set_is_the_only_one() {
        let mut header = header(" MaxProcs: 128\n MaxNodes: 64\n maxprocs: 256");
        header.set_max_processors(100);
        assert_eq!((header.max_processors(), header.lines().count()), (Some(100), 2));
    }

    #[test]
    fn queues_and_partitions_are_named_by_number() {
        let header = header(" Queue:  0  interactive    \n Queue: 1 - All jobs\n Queue:  2\n Partition: 10  standard");
        let named = |names: BTreeMap<u64, String>| names.into_iter().map(|(number, name)| format!("{number} {name}")).collect::<Vec<_>>();
        assert_eq!(named(header.queues()), ["0 interactive", "1 All jobs", "2 "]);
        assert_eq!(named(header.partitions()), ["10 standard"]);
    }

    #[test]
    fn names_have_no_control_characters() {
        assert_eq!(header(" Partition: 1 \x1b[31mred\x07").partitions(), BTreeMap::from([(1, "[31mred".to_owned())]));
    }

    #[test]
    fn the_start_is_read_beside_a_time_zone() {
        let header = header(" UnixStartTime: 893466664\n TimeZoneString: US/Pacific  # remark");
        assert_eq!(header.unix_start_time(), Some(893_466_664));
    }

    #[test]
    fn a_pushed_value_cannot_begin_a_line_of_its_own() {
        let mut header = Header::new();
        header.push("Note", "one\n1 2 3");
        assert_eq!(Vec::from_iter(header.notes()), ["one 1 2 3"]);
    }
}
