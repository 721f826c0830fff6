//! Lines with more delimiters than their header. Some of the delimiters are part of a text, such as
//! a job's name; where several columns are such texts, the columns between them tell in which.

use jiff::tz::TimeZone;
use slurm_conf::printed;

use super::columns::{Column, Columns};
use super::value::{self, Said};

/// How a line was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// The line was read in the only way that makes sense.
    Sure,
    /// Several ways make sense and differ in whose job it was, which is taken as not known.
    OwnerOpen,
    /// No way makes sense, or several that differ in more.
    Unclear,
}

/// The most ways in which a line is tried to be read.
const MOST_WAYS: usize = 4_096;

/// The columns that say whose a job is, and of which partition and quality of service.
const OF_OWNER: [Column; 8] =
    [Column::User, Column::Uid, Column::Account, Column::Group, Column::Gid, Column::Partition, Column::Qos, Column::QosRaw];

/// The begin and end of each column of a line.
type Ends = Vec<(usize, usize)>;

impl Columns {
    /// Joins what stands between delimiters to as many columns as the header names; `ends` has no
    /// fewer entries than that.
    pub(super) fn resolve(&self, line: &[u8], ends: &mut Ends, zone: &TimeZone) -> Reading {
        let free = self.free_places();
        let Some(more) = ends.len().checked_sub(self.count()).filter(|more| *more > 0 && !free.is_empty()) else {
            return Reading::Sure;
        };
        let mut ways = Ways { columns: self, line, ends, zone, sensible: Vec::new(), tried: 0 };
        if free.len() == 1 {
            // There is no other way, whatever stands in the columns.
            let joined = ways.joined(&[more]);
            *ends = joined;
            return Reading::Sure;
        }
        ways.allot(&mut vec![0; free.len()], 0, more);
        let Ways { tried, sensible, .. } = ways;
        let mut sensible = sensible.into_iter();
        let Some(mut taken) = sensible.next().filter(|_| tried <= MOST_WAYS) else { return Reading::Unclear };
        let mut reading = Reading::Sure;
        for other in sensible {
            for (column, place) in self.known_places().filter(|(column, _)| *column != Column::JobName) {
                if taken.get(place) == other.get(place) {
                    continue;
                }
                if !OF_OWNER.contains(&column) {
                    return Reading::Unclear;
                }
                reading = Reading::OwnerOpen;
                if let Some(range) = taken.get_mut(place) {
                    range.1 = range.0;
                }
            }
        }
        *ends = taken;
        reading
    }
}

/// The ways in which a line can be read.
struct Ways<'a> {
    columns: &'a Columns,
    line: &'a [u8],
    ends: &'a Ends,
    zone: &'a TimeZone,
    /// The ways that make sense.
    sensible: Vec<Ends>,
    tried: usize,
}

impl Ways<'_> {
    /// Allots `rest` delimiters to the free texts from the one at `index` on, in each possible way.
    fn allot(&mut self, allotted: &mut Vec<usize>, index: usize, rest: usize) {
        if index + 1 == allotted.len() {
            if let Some(last) = allotted.last_mut() {
                *last = rest;
            }
            self.tried += 1;
            let ends = self.joined(allotted);
            if self.makes_sense(&ends) {
                self.sensible.push(ends);
            }
            return;
        }
        for here in 0..=rest {
            if self.tried > MOST_WAYS {
                return;
            }
            if let Some(place) = allotted.get_mut(index) {
                *place = here;
            }
            self.allot(allotted, index + 1, rest - here);
        }
    }

    /// The columns, if each free text has so many delimiters in it.
    fn joined(&self, allotted: &[usize]) -> Ends {
        let free = self.columns.free_places();
        let (mut from, mut joined) = (0, Vec::with_capacity(self.columns.count()));
        for place in 0..self.columns.count() {
            let inside = free.iter().position(|free| *free == place).and_then(|index| allotted.get(index)).copied().unwrap_or(0);
            let begin = self.ends.get(from).map_or(0, |(begin, _)| *begin);
            let end = self.ends.get(from + inside).map_or(begin, |(_, end)| *end);
            joined.push((begin, end));
            from += inside + 1;
        }
        joined
    }

    fn makes_sense(&self, ends: &Ends) -> bool {
        let text = |place: usize| {
            let (begin, end) = *ends.get(place)?;
            Some(std::str::from_utf8(self.line.get(begin..end)?).unwrap_or("?").trim())
        };
        let is_path = |place: &usize| text(*place).is_none_or(|path| path.is_empty() || path.starts_with('/'));
        self.columns.paths().iter().all(is_path)
            && self.columns.known_places().all(|(column, place)| text(place).is_none_or(|text| can_be(column, text, self.zone)))
    }
}

/// Whether a text can be what stands in a column.
fn can_be(column: Column, text: &str, zone: &TimeZone) -> bool {
    match column {
        Column::JobName | Column::Group => true,
        Column::JobId | Column::JobIdRaw => value::job_number(text).is_some(),
        Column::State => matches!(value::state(text), Said::Known(_)),
        Column::User | Column::Account | Column::Partition | Column::Qos => !text.contains(char::is_whitespace),
        Column::Uid | Column::Gid | Column::QosRaw => text.bytes().all(|byte| byte.is_ascii_digit()),
        Column::Submit | Column::Eligible | Column::Start | Column::End => printed::read(text, zone).is_ok(),
        Column::Elapsed | Column::Suspended => value::seconds(text).is_some(),
        Column::ElapsedRaw => value::raw_seconds(text).is_some(),
        Column::AllocTres | Column::ReqTres => text.is_empty() || text.contains('='),
        Column::AllocCpus | Column::NCpus | Column::ReqCpus | Column::AllocNodes | Column::NNodes | Column::ReqNodes => {
            value::count(text).is_some()
        }
        Column::ReqMem => value::memory(text).is_some(),
        Column::TimeLimit => value::limit(text).is_some(),
        Column::TimeLimitRaw => value::raw_limit(text).is_some(),
    }
}
