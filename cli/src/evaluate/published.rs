//! The published figures, to stand beside ours: tables V to IX of S. Hariharan, P. Murali, A.
//! Pasari and S. Vadhiyar, "End-to-End Predictions-Based Resource Management Framework for
//! Supercomputer Jobs".

use std::collections::BTreeMap;

use serde::Serialize;
use simulator::swf::Header;

/// What was published about one log.
#[derive(Debug, PartialEq)]
pub(super) struct Published {
    /// The paper's name for the log.
    pub(super) name: &'static str,
    /// Completed jobs in the paper's copy of it (table III).
    pub(super) completed_jobs: usize,
    /// What sets the archive's log apart from the paper's.
    pub(super) remark: Option<&'static str>,
    /// Figures on waits, from table V of the end-to-end paper.
    pub(super) waits: PublishedWaits,
    /// Figures on run times, from tables VI and VII.
    pub(super) run_times: PublishedRunTimes,
    /// Figures on molding, from table VIII.
    pub(super) molding: PublishedMinutes,
    /// Figures on deferral, from table IX.
    pub(super) deferral: PublishedMinutes,
    /// What recognises the log: all words of one of the lists, in the file's name or in the
    /// header's account of machine and site.
    marks: &'static [&'static [&'static str]],
    /// The log begins at this time or later, in Unix seconds; tells apart the years of one machine.
    begins_at_least: i64,
}

/// Errors of forecasts of waits, of QBETS, IBL and APQ in this order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PublishedWaits {
    /// Mean of the absolute error over the response time.
    scaled_aae: [f64; 3],
    /// Mean absolute error in hours.
    aae_hours: [f64; 3],
}

/// What was found of forecasts of run times; all in percent but the errors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PublishedRunTimes {
    /// Success rates of the baseline, Smith et al., Li et al. and rangeSets.
    success_rate: [f64; 4],
    /// Coverage of Smith et al., Li et al. and rangeSets; 100 for the baseline by definition.
    coverage: [f64; 3],
    /// Mean absolute errors of Smith et al., Li et al. and rangeSets in minutes.
    aae_minutes: [f64; 3],
}

/// Mean wait, run time and response in minutes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct PublishedMinutes {
    /// Mean wait, run time and response in minutes without the paper's policy.
    pub(super) baseline: [f64; 3],
    /// The same with the paper's policy.
    pub(super) ours: [f64; 3],
}

const ANOTHER_CLEANING: &str = "this log is another cleaning than the paper's, and the figures compare only roughly";
const OTHER_DATA: &str = "the paper's data of this machine differ from the archive's, and the figures do not compare";

const LOGS: [Published; 7] = [
    Published {
        name: "ANL Intrepid",
        completed_jobs: 68_936,
        remark: None,
        waits: PublishedWaits { scaled_aae: [35.15, 0.93, 0.55], aae_hours: [25.87, 5.68, 4.52] },
        run_times: PublishedRunTimes {
            success_rate: [89.0, 67.0, 71.0, 84.0],
            coverage: [156.0, 102.0, 17.0],
            aae_minutes: [50.0, 48.0, 43.0],
        },
        molding: PublishedMinutes { baseline: [61.0, 83.0, 144.0], ours: [26.0, 41.0, 67.0] },
        deferral: PublishedMinutes { baseline: [43.0, 76.0, 119.0], ours: [26.0, 57.0, 83.0] },
        marks: &[&["intrepid"]],
        begins_at_least: 0,
    },
    Published {
        name: "CEA Curie",
        completed_jobs: 266_099,
        remark: None,
        waits: PublishedWaits { scaled_aae: [2444.03, 18.21, 20.35], aae_hours: [19.19, 3.10, 2.65] },
        run_times: PublishedRunTimes {
            success_rate: [88.0, 58.0, 62.0, 72.0],
            coverage: [218.0, 206.0, 23.0],
            aae_minutes: [66.0, 76.0, 116.0],
        },
        molding: PublishedMinutes { baseline: [15.0, 95.0, 110.0], ours: [8.0, 64.0, 72.0] },
        deferral: PublishedMinutes { baseline: [11.0, 84.0, 95.0], ours: [5.0, 50.0, 55.0] },
        marks: &[&["cea", "curie"]],
        begins_at_least: 0,
    },
    Published {
        name: "DAS2",
        completed_jobs: 39_915,
        remark: Some(OTHER_DATA),
        waits: PublishedWaits { scaled_aae: [32.03, 3.13, 1.07], aae_hours: [0.13, 0.04, 0.03] },
        run_times: PublishedRunTimes {
            success_rate: [95.0, 78.0, 83.0, 89.0],
            coverage: [120.0, 98.0, 7.0],
            aae_minutes: [25.0, 19.0, 18.0],
        },
        molding: PublishedMinutes { baseline: [0.12, 6.0, 6.12], ours: [0.02, 4.17, 4.19] },
        deferral: PublishedMinutes { baseline: [0.01, 2.24, 2.25], ours: [0.0, 1.11, 1.11] },
        marks: &[&["das2", "fs1"]],
        begins_at_least: 0,
    },
    Published {
        name: "HPC2N",
        completed_jobs: 318_307,
        remark: Some(ANOTHER_CLEANING),
        waits: PublishedWaits { scaled_aae: [3020.44, 40.82, 23.29], aae_hours: [30.99, 7.65, 5.97] },
        run_times: PublishedRunTimes {
            success_rate: [83.0, 63.0, 72.0, 77.0],
            coverage: [166.0, 140.0, 19.0],
            aae_minutes: [46.0, 67.0, 64.0],
        },
        molding: PublishedMinutes { baseline: [72.0, 289.0, 361.0], ours: [50.0, 210.0, 260.0] },
        deferral: PublishedMinutes { baseline: [68.0, 265.0, 333.0], ours: [47.0, 180.0, 227.0] },
        marks: &[&["hpc2n"]],
        begins_at_least: 0,
    },
    Published {
        name: "SDSC Blue",
        completed_jobs: 243_314,
        remark: None,
        waits: PublishedWaits { scaled_aae: [319.93, 3.56, 3.56], aae_hours: [29.44, 5.30, 4.83] },
        run_times: PublishedRunTimes {
            success_rate: [85.0, 67.0, 71.0, 83.0],
            coverage: [326.0, 302.0, 14.0],
            aae_minutes: [44.0, 48.0, 41.0],
        },
        molding: PublishedMinutes { baseline: [97.0, 73.0, 170.0], ours: [72.0, 56.0, 128.0] },
        deferral: PublishedMinutes { baseline: [91.0, 65.0, 156.0], ours: [63.0, 44.0, 107.0] },
        marks: &[&["sdsc", "blue"]],
        begins_at_least: 0,
    },
    Published {
        name: "SDSC Paragon",
        completed_jobs: 32_199,
        remark: Some(OTHER_DATA),
        waits: PublishedWaits { scaled_aae: [1078.39, 6.63, 2.87], aae_hours: [14.99, 0.88, 0.69] },
        run_times: PublishedRunTimes {
            success_rate: [89.0, 70.0, 75.0, 78.0],
            coverage: [145.0, 113.0, 8.0],
            aae_minutes: [41.0, 58.0, 36.0],
        },
        molding: PublishedMinutes { baseline: [102.0, 79.0, 181.0], ours: [76.0, 51.0, 127.0] },
        deferral: PublishedMinutes { baseline: [114.0, 89.0, 203.0], ours: [71.0, 42.0, 113.0] },
        marks: &[&["sdsc", "paragon"], &["sdscpar", "1996"]],
        // The archive has the machine's year before as well.
        begins_at_least: 810_000_000,
    },
    Published {
        name: "SDSC SP2",
        completed_jobs: 54_006,
        remark: None,
        waits: PublishedWaits { scaled_aae: [391.61, 51.48, 11.81], aae_hours: [44.37, 9.42, 7.84] },
        run_times: PublishedRunTimes {
            success_rate: [79.0, 69.0, 76.0, 81.0],
            coverage: [339.0, 213.0, 26.0],
            aae_minutes: [56.0, 69.0, 43.0],
        },
        molding: PublishedMinutes { baseline: [198.0, 133.0, 331.0], ours: [147.0, 98.0, 245.0] },
        deferral: PublishedMinutes { baseline: [200.0, 142.0, 342.0], ours: [153.0, 79.0, 232.0] },
        marks: &[&["sdsc", "sp2"]],
        begins_at_least: 0,
    },
];

impl Published {
    /// What was published about a log, known by the name of its file or by its header; `None` for
    /// all other logs.
    pub(super) fn about(name: &str, header: &Header) -> Option<&'static Self> {
        let said = ["Computer", "Installation"].into_iter().flat_map(|key| header.values(key));
        let text: Vec<String> = std::iter::once(name).chain(said).map(letters_and_digits).collect();
        let has = |word: &&str| text.iter().any(|text| text.contains(word));
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
    /// Where they stand in the paper.
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

impl<F: PublishedFigures> From<&Published> for PublishedReport<F> {
    fn from(published: &Published) -> Self {
        Self { figures: F::of(published), source: F::SOURCE, remark: published.remark, completed_jobs: published.completed_jobs }
    }
}

/// Published figures on waits (end-to-end paper, table V).
#[derive(Debug, Serialize)]
pub(super) struct WaitFigures {
    pub(super) aae_hours: ByPublishedMethod,
    pub(super) scaled_aae: ByPublishedMethod,
}

impl PublishedFigures for WaitFigures {
    const SOURCE: &'static str = "end-to-end paper, VI.A, table V (jobs 20,001 to 60,000)";

    fn of(published: &Published) -> Self {
        let by_method = |figures: [f64; 3]| ["qbets", "ibl", "apq"].into_iter().zip(figures).collect();
        Self { aae_hours: by_method(published.waits.aae_hours), scaled_aae: by_method(published.waits.scaled_aae) }
    }
}

/// Published figures on run times (end-to-end paper, tables VI and VII).
#[derive(Debug, Serialize)]
pub(super) struct RunTimeFigures {
    /// Success rates from 0 to 1.
    pub(super) success_rate: ByPublishedMethod,
    pub(super) coverage_percent: ByPublishedMethod,
    pub(super) aae_minutes: ByPublishedMethod,
}

impl PublishedFigures for RunTimeFigures {
    const SOURCE: &'static str = "end-to-end paper, VI.B, tables VI and VII (from job 20,001 on)";

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
            assert_eq!(Published::about(file, &Header::new()).map(|log| log.name), name, "{file}");
        }
    }

    #[test]
    fn a_log_is_known_by_its_header_whatever_the_file_is_called() {
        let about = |lines: &[(&str, &str)]| Published::about("log", &header(lines)).map(|log| log.name);
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
