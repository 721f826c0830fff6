//! The log of `queuecastd`, one JSON object to a line.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::private_cluster::PrivateCluster;

/// A place between two lines of the log: the number of bytes before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place(u64);

/// The log of all daemons that a benchmark starts.
#[derive(Debug)]
pub(crate) struct Log {
    path: PathBuf,
}

/// A line of the log.
#[derive(Debug)]
pub(crate) struct Entry {
    /// When it was written.
    at: Timestamp,
    /// The place behind it.
    pub(crate) end: Place,
    fields: Value,
}

impl Log {
    pub(crate) fn new(site: &PrivateCluster) -> Log {
        Log { path: site.cluster.path("log/queuecastd.log") }
    }

    /// Makes it empty.
    pub(crate) fn clear(&self) -> io::Result<()> {
        fs::write(&self.path, "")
    }

    /// The place behind all lines that are there now.
    pub(crate) fn end(&self) -> io::Result<Place> {
        Ok(Place(fs::metadata(&self.path)?.len()))
    }

    /// The lines behind a place that are there now, and the place behind them.
    pub(crate) fn since(&self, from: Place) -> io::Result<(Vec<Entry>, Place)> {
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(from.0))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(entries(&bytes, from))
    }

    /// The last line, for messages.
    pub(crate) fn last_line(&self) -> String {
        let log = fs::read(&self.path).unwrap_or_default();
        String::from_utf8_lossy(&log).lines().last().unwrap_or_default().to_owned()
    }
}

impl Entry {
    fn parse(line: &[u8], end: Place) -> Option<Entry> {
        let fields: Value = serde_json::from_slice(line).ok()?;
        let at = fields["timestamp"].as_str()?.parse().ok()?;
        Some(Entry { at, end, fields })
    }

    /// Whether this is its message.
    pub(crate) fn says(&self, message: &str) -> bool {
        self.fields["message"] == message
    }

    /// A whole number of it.
    pub(crate) fn number(&self, key: &str) -> Option<u64> {
        self.fields[key].as_u64()
    }

    /// A duration of it in milliseconds.
    pub(crate) fn milliseconds(&self, key: &str) -> Option<f64> {
        milliseconds(self.fields[key].as_str()?)
    }

    /// Seconds from a time to that of the entry.
    pub(crate) fn seconds_since(&self, time: Timestamp) -> f64 {
        self.at.duration_since(time).as_secs_f64()
    }
}

/// The whole lines among bytes of the log from a place on, and the place behind them. What is no
/// JSON object is libslurm's own and is left out.
fn entries(bytes: &[u8], from: Place) -> (Vec<Entry>, Place) {
    let mut place = from;
    let mut entries = Vec::new();
    for line in bytes.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n")) {
        place = Place(place.0 + line.len() as u64);
        entries.extend(Entry::parse(line, place));
    }
    (entries, place)
}

/// The milliseconds of a duration as Rust's `Debug` writes it, such as 1.5s, 1.5ms, 1.5µs or 1.5ns.
fn milliseconds(duration: &str) -> Option<f64> {
    let duration: SignedDuration = duration.parse().ok()?;
    Some(duration.as_secs_f64() * 1_000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: &str = concat!(
        r#"{"timestamp":"2026-03-27T14:30:00.250000Z","level":"DEBUG","message":"published","bytes":12,"ended_jobs":7,"writing":"1.5ms"}"#,
        "\nqueuecastd: error: slurm_persist_conn_open\n",
        r#"{"timestamp":"2026-03-27T14:30:01.500000Z","level":"DEBUG","message":"learnt"}"#,
        "\n{\"timest"
    );

    #[test]
    fn a_line_is_an_entry_once_it_is_whole_and_if_it_is_the_daemons() {
        let (found, end) = entries(LINES.as_bytes(), Place(100));
        assert_eq!(found.len(), 2);
        assert!(found[0].says("published") && found[1].says("learnt"));
        assert_eq!(found[0].number("ended_jobs"), Some(7));
        assert_eq!(found[0].milliseconds("writing"), Some(1.5));
        assert_eq!(found[1].seconds_since(found[0].at).to_string(), "1.25");
        assert_eq!((found[1].end, end), (end, Place(100 + LINES.len() as u64 - 8)));
    }

    #[test]
    fn durations_of_all_units_become_milliseconds() {
        let read = ["2s", "1.5ms", "250µs", "500ns", "soon"].map(milliseconds);
        assert_eq!(read, [Some(2_000.0), Some(1.5), Some(0.25), Some(5e-4), None]);
    }
}
