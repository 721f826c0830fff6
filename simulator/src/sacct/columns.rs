//! The columns of sacct's output, by their names.

use super::ReadError;

/// The columns that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    JobId,
    JobIdRaw,
    JobName,
    User,
    Uid,
    Account,
    Group,
    Gid,
    Partition,
    Qos,
    QosRaw,
    State,
    Submit,
    Eligible,
    Start,
    End,
    Elapsed,
    ElapsedRaw,
    Suspended,
    AllocTres,
    AllocCpus,
    NCpus,
    AllocNodes,
    NNodes,
    ReqTres,
    ReqCpus,
    ReqNodes,
    ReqMem,
    TimeLimit,
    TimeLimitRaw,
}

/// Each column's name, as sacct prints it.
const NAMES: [(Column, &str); 30] = [
    (Column::JobId, "JobID"),
    (Column::JobIdRaw, "JobIDRaw"),
    (Column::JobName, "JobName"),
    (Column::User, "User"),
    (Column::Uid, "UID"),
    (Column::Account, "Account"),
    (Column::Group, "Group"),
    (Column::Gid, "GID"),
    (Column::Partition, "Partition"),
    (Column::Qos, "QOS"),
    (Column::QosRaw, "QOSRAW"),
    (Column::State, "State"),
    (Column::Submit, "Submit"),
    (Column::Eligible, "Eligible"),
    (Column::Start, "Start"),
    (Column::End, "End"),
    (Column::Elapsed, "Elapsed"),
    (Column::ElapsedRaw, "ElapsedRaw"),
    (Column::Suspended, "Suspended"),
    (Column::AllocTres, "AllocTRES"),
    (Column::AllocCpus, "AllocCPUS"),
    (Column::NCpus, "NCPUS"),
    (Column::AllocNodes, "AllocNodes"),
    (Column::NNodes, "NNodes"),
    (Column::ReqTres, "ReqTRES"),
    (Column::ReqCpus, "ReqCPUS"),
    (Column::ReqNodes, "ReqNodes"),
    (Column::ReqMem, "ReqMem"),
    (Column::TimeLimit, "Timelimit"),
    (Column::TimeLimitRaw, "TimelimitRaw"),
];

/// Columns in which anything may stand, the delimiter and line breaks among it.
const FREE_TEXT: [&str; 12] = [
    "JobName",
    "Comment",
    "AdminComment",
    "SystemComment",
    "SubmitLine",
    "WorkDir",
    "Constraints",
    "Container",
    "Extra",
    "StdErr",
    "StdIn",
    "StdOut",
];

/// The free-text columns that hold an absolute path or nothing.
const PATHS: [&str; 1] = ["WorkDir"];

/// What has to be known of each job, and the columns of which one says it.
const NEEDED: [(&str, &[Column], &str); 7] = [
    ("which job it is", &[Column::JobIdRaw, Column::JobId], "JobIDRaw or JobID"),
    ("whose it is", &[Column::User, Column::Uid], "User or UID"),
    ("how it ended", &[Column::State], "State"),
    ("when it was submitted", &[Column::Eligible, Column::Submit], "Eligible or Submit"),
    ("when it started", &[Column::Start], "Start"),
    ("when it ended", &[Column::End], "End"),
    (
        "how large it was",
        &[Column::AllocTres, Column::AllocCpus, Column::NCpus, Column::ReqTres, Column::ReqCpus],
        "AllocTRES, AllocCPUS, NCPUS, ReqTRES or ReqCPUS",
    ),
];

/// What is worth to be known, and the columns of which one says it.
const WANTED: [(&str, &[Column], &str); 7] = [
    ("time limits", &[Column::TimeLimit, Column::TimeLimitRaw], "Timelimit or TimelimitRaw"),
    ("partitions", &[Column::Partition], "Partition"),
    ("accounts", &[Column::Account, Column::Group, Column::Gid], "Account"),
    ("qualities of service", &[Column::Qos, Column::QosRaw], "QOS"),
    ("nodes", &OF_NODES, "ReqTRES, ReqNodes, AllocTRES, AllocNodes or NNodes"),
    ("when jobs became eligible", &[Column::Eligible], "Eligible"),
    ("suspensions", &[Column::Suspended, Column::Elapsed, Column::ElapsedRaw], "Suspended or Elapsed"),
];

/// The columns that say how many nodes a job asked for or had.
pub(super) const OF_NODES: [Column; 5] = [Column::ReqTres, Column::ReqNodes, Column::AllocTres, Column::AllocNodes, Column::NNodes];

/// The columns of one header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Columns {
    delimiter: Vec<u8>,
    /// The number of columns.
    count: usize,
    /// The position of each column of [`NAMES`] in a line; `None` if the output lacks it.
    places: [Option<usize>; NAMES.len()],
    /// The positions of the columns in which any text may stand, ascending.
    free: Vec<usize>,
    /// The positions of the columns that hold an absolute path or nothing.
    paths: Vec<usize>,
    /// Whether each line ends with a delimiter, as with `--parsable`.
    ends_with_delimiter: bool,
}

/// Whether a line is a header of sacct's, however its columns are delimited: it names at least two
/// columns, the job's number among them.
#[must_use]
pub fn is_header(line: &[u8]) -> bool {
    let words = || line.split(|byte| !byte.is_ascii_alphanumeric());
    let is_known = |word: &&[u8]| NAMES.iter().any(|(_, name)| name.as_bytes().eq_ignore_ascii_case(word));
    let is_number = |word: &[u8]| word.eq_ignore_ascii_case(b"JobID") || word.eq_ignore_ascii_case(b"JobIDRaw");
    line.len() < 10_000 && words().any(is_number) && words().filter(is_known).take(2).count() == 2
}

impl Columns {
    /// Reads a header.
    pub(super) fn of(line: &[u8], line_number: u64) -> Result<Self, ReadError> {
        let header = String::from_utf8_lossy(line);
        let is_word = |character: char| character.is_ascii_alphanumeric() || character == '_';
        let Some(begin) = header.find(|character| !is_word(character)) else {
            return Err(ReadError::MissingColumns { line: line_number, missing: all_but(&header) });
        };
        let rest = header.get(begin..).unwrap_or_default();
        let delimiter = rest.get(..rest.find(is_word).unwrap_or(rest.len())).unwrap_or_default();
        if delimiter.trim_matches(' ').is_empty() {
            return Err(ReadError::NotParsable { line: line_number });
        }
        let ends_with_delimiter = header.ends_with(delimiter);
        let names: Vec<&str> = header.strip_suffix(delimiter).unwrap_or(&header).split(delimiter).map(str::trim).collect();
        let place = |wanted: &str| names.iter().position(|name| name.eq_ignore_ascii_case(wanted));
        let places = |wanted: &[&str]| {
            let is_wanted = |name: &str| wanted.iter().any(|wanted| wanted.eq_ignore_ascii_case(name));
            names.iter().enumerate().filter(|(_, name)| is_wanted(name)).map(|(place, _)| place).collect()
        };
        let columns = Self {
            delimiter: delimiter.as_bytes().to_vec(),
            count: names.len(),
            places: NAMES.map(|(_, name)| place(name)),
            free: places(&FREE_TEXT),
            paths: places(&PATHS),
            ends_with_delimiter,
        };
        let missing = columns.missing();
        if missing.is_empty() { Ok(columns) } else { Err(ReadError::MissingColumns { line: line_number, missing }) }
    }

    /// Returns the number of columns.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Whether a column is there.
    pub(super) fn has(&self, column: Column) -> bool {
        self.place(column).is_some()
    }

    /// The column that says which job a line is about.
    pub(super) fn of_job(&self) -> Column {
        if self.has(Column::JobIdRaw) { Column::JobIdRaw } else { Column::JobId }
    }

    /// What a line, which was split into `ends`, has in that column.
    pub(super) fn job<'a>(&self, line: &'a [u8], ends: &[(usize, usize)]) -> Option<&'a str> {
        self.text(self.of_job(), line, ends)
    }

    /// Whether a column is there in which anything may stand.
    pub(super) fn has_free_text(&self) -> bool {
        !self.free.is_empty()
    }

    /// The columns in which anything may stand, ascending.
    pub(super) fn free_places(&self) -> &[usize] {
        &self.free
    }

    /// Returns the positions of the columns that hold an absolute path or nothing.
    pub(super) fn paths(&self) -> &[usize] {
        &self.paths
    }

    /// The columns that are read, each with its place.
    pub(super) fn known_places(&self) -> impl Iterator<Item = (Column, usize)> {
        NAMES.iter().zip(&self.places).filter_map(|((column, _), place)| Some((*column, (*place)?)))
    }

    fn place(&self, column: Column) -> Option<usize> {
        NAMES.iter().position(|(named, _)| *named == column).and_then(|index| *self.places.get(index)?)
    }

    fn missing(&self) -> String {
        let lacking = NEEDED.iter().filter(|(_, columns, _)| !columns.iter().any(|column| self.has(*column)));
        let named: Vec<String> = lacking.map(|(what, _, names)| format!("{what} ({names})")).collect();
        named.join(", ")
    }

    /// What the columns leave unsaid although it is of use, each with the columns that would say
    /// it.
    pub(super) fn unsaid(&self) -> impl Iterator<Item = String> {
        WANTED
            .iter()
            .filter(|(_, columns, _)| !columns.iter().any(|column| self.has(*column)))
            .map(|(what, _, names)| format!("nothing is known of {what}: there is no column {names}"))
    }

    /// Finds where the columns of a line begin and end; `ends` is overwritten.
    pub(super) fn split(&self, line: &[u8], ends: &mut Vec<(usize, usize)>) {
        ends.clear();
        let line = if self.ends_with_delimiter { line.strip_suffix(self.delimiter.as_slice()).unwrap_or(line) } else { line };
        let mut begin = 0;
        for place in memchr::memmem::find_iter(line, &self.delimiter) {
            ends.push((begin, place));
            begin = place + self.delimiter.len();
        }
        ends.push((begin, line.len()));
    }

    /// The text of a column in a line that was split into `ends`, of which there are at least as
    /// many as columns. Where there are more, a free text has delimiters in it: what stands before
    /// the first such text is counted from the left, what stands behind the last from the right,
    /// and what stands between is not known before [`Columns::resolve`].
    pub(super) fn text<'a>(&self, column: Column, line: &'a [u8], ends: &[(usize, usize)]) -> Option<&'a str> {
        let place = self.place(column)?;
        let more = ends.len().checked_sub(self.count)?;
        let (begin, end) = match self.free.first().copied().zip(self.free.last().copied()) {
            Some((first, last)) if more > 0 => match place {
                place if place < first => *ends.get(place)?,
                place if place > last => *ends.get(place + more)?,
                place if first == last => (ends.get(place)?.0, ends.get(place + more)?.1),
                _ => return None,
            },
            _ => *ends.get(place)?,
        };
        // What is no text in UTF-8 can be the name of something, and nothing else.
        Some(std::str::from_utf8(line.get(begin..end)?).unwrap_or("?").trim())
    }
}

/// What is missing where there is one column alone.
fn all_but(name: &str) -> String {
    let has = |columns: &[Column]| NAMES.iter().any(|(column, known)| columns.contains(column) && known.eq_ignore_ascii_case(name.trim()));
    let lacking: Vec<String> =
        NEEDED.iter().filter(|(_, columns, _)| !has(columns)).map(|(what, _, names)| format!("{what} ({names})")).collect();
    lacking.join(", ")
}

impl Column {
    /// Returns the name of the column, as messages call it.
    pub(super) fn name(self) -> &'static str {
        NAMES.iter().find(|(column, _)| *column == self).map_or("", |(_, name)| name)
    }
}
