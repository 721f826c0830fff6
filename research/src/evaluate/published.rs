//! The published figures, to stand beside ours: tables V to IX of S. Hariharan, P. Murali, A.
//! Pasari and S. Vadhiyar, "End-to-End Predictions-Based Resource Management Framework for
//! Supercomputer Jobs".

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use simulator::swf::Header;

/// What was published about one log.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Published {
    /// Hariharan et al.'s name for the log.
    pub(super) name: String,
    /// Completed jobs in Hariharan et al.'s copy of it (table III).
    pub(super) completed_jobs: usize,
    /// What sets the archive's log apart from Hariharan et al.'s.
    pub(super) remark: Option<String>,
    /// Figures on waits, from table V of Hariharan et al. 2020.
    pub(super) waits: PublishedWaits,
    /// Figures on run times, from tables VI and VII.
    pub(super) run_times: PublishedRunTimes,
    /// Figures on molding, from table VIII.
    pub(super) molding: PublishedMinutes,
    /// Figures on deferral, from table IX.
    pub(super) deferral: PublishedMinutes,
    /// What recognises the log: all words of one of the lists, in the file's name or in the
    /// header's account of machine and site.
    marks: Vec<Vec<String>>,
    /// The log begins at this time or later, in Unix seconds; tells apart the years of one machine.
    #[serde(default)]
    begins_at_least: i64,
}

/// Errors of forecasts of waits, of QBETS, IBL and APQ in this order.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PublishedWaits {
    /// Mean of the absolute error over the response time.
    scaled_aae: [f64; 3],
    /// Mean absolute error in hours.
    aae_hours: [f64; 3],
}

/// What was found of forecasts of run times; all in percent but the errors.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PublishedRunTimes {
    /// Success rates of the baseline, Smith et al., Li et al. and rangeSets.
    success_rate: [f64; 4],
    /// Coverage of Smith et al., Li et al. and rangeSets; 100 for the baseline by definition.
    coverage: [f64; 3],
    /// Mean absolute errors of Smith et al., Li et al. and rangeSets in minutes.
    aae_minutes: [f64; 3],
}

/// Mean wait, run time and response in minutes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PublishedMinutes {
    /// Mean wait, run time and response in minutes without Hariharan et al.'s policy.
    pub(super) baseline: [f64; 3],
    /// The minutes with the policy of Hariharan et al.
    pub(super) ours: [f64; 3],
}

/// The figures as the file beside this one has them.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    log: Vec<Published>,
}

/// All logs. The file is part of the program, and a test reads it.
static LOGS: LazyLock<Vec<Published>> = LazyLock::new(|| toml::from_str::<File>(include_str!("published.toml")).unwrap_or_default().log);

impl Published {
    /// What was published about a log, known by the name of its file or by its header; `None` for
    /// all other logs.
    pub(super) fn about(name: &str, header: &Header) -> Option<&'static Self> {
        let said = ["Computer", "Installation"].into_iter().flat_map(|key| header.values(key));
        let text: Vec<String> = std::iter::once(name).chain(said).map(letters_and_digits).collect();
        let has = |word: &String| text.iter().any(|text| text.contains(word));
        let begin = header.unix_start_time().unwrap_or(i64::MAX);
        LOGS.iter().find(|log| begin >= log.begins_at_least && log.marks.iter().any(|words| words.iter().all(has)))
    }
}

/// A text without case, blanks and signs.
fn letters_and_digits(text: &str) -> String {
    text.chars().filter(char::is_ascii_alphanumeric).map(|character| character.to_ascii_lowercase()).collect()
}

/// Figures by the method's key in the reports.
pub(super) type ByPublishedMethod = BTreeMap<&'static str, f64>;

/// Figures of one table as they stand in a report.
pub(super) trait PublishedFigures: Serialize {
    /// The place of the figures in Hariharan et al. 2020.
    const SOURCE: &'static str;

    /// The published figures of one log.
    fn of(published: &Published) -> Self;
}

/// What was published, as it stands in a report.
#[derive(Debug, Serialize)]
pub(super) struct PublishedReport<F> {
    #[serde(flatten)]
    pub(super) figures: F,
    source: &'static str,
    pub(super) remark: Option<&'static str>,
    #[serde(skip)]
    pub(super) completed_jobs: usize,
}

impl<F: PublishedFigures> From<&'static Published> for PublishedReport<F> {
    fn from(published: &'static Published) -> Self {
        Self { figures: F::of(published), source: F::SOURCE, remark: published.remark.as_deref(), completed_jobs: published.completed_jobs }
    }
}

/// Published figures on waits (Hariharan et al. 2020, table V).
#[derive(Debug, Serialize)]
pub(super) struct WaitFigures {
    pub(super) aae_hours: ByPublishedMethod,
    pub(super) scaled_aae: ByPublishedMethod,
}

impl PublishedFigures for WaitFigures {
    const SOURCE: &'static str = "Hariharan et al. 2020, VI.A, table V (jobs 20,001 to 60,000)";

    fn of(published: &Published) -> Self {
        let by_method = |figures: [f64; 3]| ["qbets", "ibl", "apq"].into_iter().zip(figures).collect();
        Self { aae_hours: by_method(published.waits.aae_hours), scaled_aae: by_method(published.waits.scaled_aae) }
    }
}

/// Published figures on run times (Hariharan et al. 2020, tables VI and VII).
#[derive(Debug, Serialize)]
pub(super) struct RunTimeFigures {
    /// Success rates from 0 to 1.
    pub(super) success_rate: ByPublishedMethod,
    pub(super) coverage_percent: ByPublishedMethod,
    pub(super) aae_minutes: ByPublishedMethod,
}

impl PublishedFigures for RunTimeFigures {
    const SOURCE: &'static str = "Hariharan et al. 2020, VI.B, tables VI and VII (from job 20,001 on)";

    fn of(published: &Published) -> Self {
        let PublishedRunTimes { success_rate, coverage, aae_minutes } = published.run_times;
        let by_method = |figures: [f64; 3]| -> ByPublishedMethod { ["smith", "li", "range_sets"].into_iter().zip(figures).collect() };
        let parts = success_rate.map(|percent| percent / 100.0);
        let mut coverage_percent = by_method(coverage);
        coverage_percent.insert("baseline", 100.0);
        Self {
            success_rate: ["baseline", "smith", "li", "range_sets"].into_iter().zip(parts).collect(),
            coverage_percent,
            aae_minutes: by_method(aae_minutes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(lines: &[(&str, &str)]) -> Header {
        let mut header = Header::new();
        lines.iter().for_each(|(key, value)| header.push(key, value));
        header
    }

    #[test]
    fn the_file_of_published_figures_can_be_read() {
        let file: Result<File, toml::de::Error> = toml::from_str(include_str!("published.toml"));
        assert_eq!(file.unwrap().log.len(), 7);
    }

    #[test]
    fn a_log_is_known_by_the_name_of_its_file() {
        for (file, name) in [
            ("SDSC-SP2-1998-4.2-cln", Some("SDSC SP2")),
            ("SDSC-BLUE-2000-4.2-cln", Some("SDSC Blue")),
            ("HPC2N-2002-2.2-cln", Some("HPC2N")),
            ("CEA-Curie-2011-2.1-cln", Some("CEA Curie")),
            ("SDSC-Par-1996-3.1-cln", Some("SDSC Paragon")),
            ("DAS2-fs1-2003-1", Some("DAS2")),
            ("ANL-Intrepid-2009-1", Some("ANL Intrepid")),
            ("KTH-SP2-1996-2.1-cln", None),
            ("SDSC-DS-2004-2.1-cln", None),
            ("SDSC-Par-1995-3.1-cln", None),
            ("DAS2-fs0-2003-1", None),
        ] {
            assert_eq!(Published::about(file, &Header::new()).map(|log| log.name.as_str()), name, "{file}");
        }
    }

    #[test]
    fn a_log_is_known_by_its_header_whatever_the_file_is_called() {
        let about = |lines: &[(&str, &str)]| Published::about("log", &header(lines)).map(|log| log.name.as_str());
        assert_eq!(about(&[("Computer", "IBM SP2"), ("Installation", "SDSC")]), Some("SDSC SP2"));
        assert_eq!(about(&[("Computer", "IBM SP2"), ("Installation", "Swedish Royal Institute of Technology (KTH)")]), None);
        let paragon = ("Computer", "Intel Paragon");
        let site = ("Installation", "San Diego Supercomputer Center (SDSC)");
        assert_eq!(about(&[paragon, site, ("UnixStartTime", "820090437")]), Some("SDSC Paragon"));
        assert_eq!(about(&[paragon, site, ("UnixStartTime", "788913000")]), None, "the year before");
    }

    #[test]
    fn the_papers_claim_against_ibl_follows_from_its_table() {
        // VI.A: "up to 22%" below IBL, over all logs but SDSC Paragon and DAS2, which have 22 % and
        // 25 %.
        let gains = LOGS.iter().map(|log| 1.0 - log.waits.aae_hours[2] / log.waits.aae_hours[1]);
        assert!((gains.fold(0.0, f64::max) - 0.25).abs() < 0.005);
    }

    #[test]
    fn the_papers_claims_for_its_policies_follow_from_its_tables() {
        // VI.C: 24 to 53 % less (25 % are the least in the table); VI.D: 30 to 50 % less (the table
        // has 31 to 51).
        let gains = |of: fn(&Published) -> PublishedMinutes| LOGS.iter().map(move |log| 1.0 - of(log).ours[2] / of(log).baseline[2]);
        let bounds = |of| (gains(of).fold(1.0, f64::min), gains(of).fold(0.0, f64::max));
        let (least, most) = bounds(|log| log.molding);
        assert!((0.24..0.26).contains(&least) && (0.53..0.54).contains(&most), "{least} {most}");
        let (least, most) = bounds(|log| log.deferral);
        assert!((0.30..0.32).contains(&least) && (0.50..0.51).contains(&most), "{least} {most}");
    }

    #[test]
    fn each_figure_stands_under_its_method() {
        let waits = WaitFigures::of(&LOGS[0]);
        assert_eq!((waits.aae_hours["apq"], waits.scaled_aae["qbets"]), (4.52, 35.15));
        let run_times = RunTimeFigures::of(&LOGS[6]);
        assert_eq!((run_times.success_rate["baseline"], run_times.success_rate["range_sets"]), (0.79, 0.81));
        assert_eq!((run_times.coverage_percent["smith"], run_times.aae_minutes["li"]), (339.0, 69.0));
    }
}
