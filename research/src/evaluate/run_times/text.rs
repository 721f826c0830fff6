//! The reports for people.

use comfy_table::Table;
use command_parts::output::{Lines, count};

use super::RunTimesOfLog;
use crate::evaluate::methods;
use crate::evaluate::tables::{
    ForecastReport, LEVELS, by_class, class_name, coverage, figure, figures_table, log_and_jobs, notes_of_logs, over_logs, percent,
    probability, published, source_of_brackets, source_of_published,
};

/// The report on one log.
pub(super) fn one(log: &RunTimesOfLog) -> String {
    let mut lines = Lines::default();
    let found = &log.found;
    log_and_jobs(&mut lines, log);

    lines.heading("Ranges: how often they hold the run time, and their length in percent of the baseline's; errors of the point forecast");
    lines.table(&methods_table(log));
    source_of_published(&mut lines, log);
    lines.heading("Mean absolute error by class of run time, in minutes");
    let classes = found
        .by_run_time
        .iter()
        .map(|class| (class_name(class.from_s.into(), class.below_s.map(u64::from)), class.jobs, &class.aae_minutes));
    lines.table(&by_class("run time", classes));
    lines.heading("Probabilities of the default: the part of the jobs that ran at most the forecast quantile");
    lines.table(&coverage(&found.jobs(), &found.pit_coverage, &found.block_pit_coverage, &[]));
    lines.text()
}

/// Tables over several logs, as VI and VII.
pub(super) fn several(logs: &[RunTimesOfLog]) -> String {
    let mut lines = Lines::default();
    lines.heading("Success rate of ranges of run times (table VI)");
    lines.table(&over_logs(logs, |found| &found.success_rate, |theirs| &theirs.success_rate, percent));
    lines.heading("Length of the ranges in percent of the baseline's (table VI)");
    lines.table(&over_logs(logs, |found| &found.coverage_percent, |theirs| &theirs.coverage_percent, figure));
    lines.heading("Mean absolute error of forecasts of run times, in minutes (table VII)");
    lines.table(&over_logs(logs, |found| &found.aae_minutes, |theirs| &theirs.aae_minutes, figure));
    source_of_brackets(&mut lines, logs);
    lines.heading("Probabilities of the default: the part of the jobs that ran at most the forecast quantile");
    let mut default = figures_table(["log", "jobs"], LEVELS);
    for log in logs {
        let mut row = vec![log.log.clone(), count(log.found.test_jobs as u64)];
        row.extend(LEVELS.map(|nominal| probability(log.found.pit_coverage.get(nominal))));
        default.add_row(row);
    }
    lines.table(&default);
    notes_of_logs(&mut lines, logs);
    lines.text()
}

fn methods_table(log: &RunTimesOfLog) -> Table {
    let found = &log.found;
    let mut columns = vec!["success", "length (%)", "median length (%)", "error (min)"];
    if log.published.is_some() {
        columns.insert(1, "published");
        columns.insert(3, "published (%)");
        columns.push("published (min)");
    }
    let mut table = figures_table(["method"], columns);
    for key in methods::ordered(found.aae_minutes.keys().copied()) {
        let mut row = vec![methods::name(key), percent(found.success_rate.get(key))];
        row.extend(published(log, key, |figures| &figures.success_rate, percent));
        row.push(figure(found.coverage_percent.get(key)));
        row.extend(published(log, key, |figures| &figures.coverage_percent, figure));
        row.push(figure(found.median_coverage_percent.get(key)));
        row.push(figure(found.aae_minutes.get(key)));
        row.extend(published(log, key, |figures| &figures.aae_minutes, figure));
        table.add_row(row);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::super::sample::report;
    use super::*;
    use crate::evaluate::tables::line;

    #[test]
    fn figures_stand_beside_the_published_ones() {
        let text = one(&report("SDSC-SP2-1998-4.2-cln"));
        assert_eq!(line(&text, "baseline"), "baseline 60 % 79 % 100 100 90.0 70.0");
        assert_eq!(line(&text, "rangeSets"), "rangeSets 75 % 81 % 70.0 26.0 60.0 55.0 43.0");
        assert_eq!(line(&text, "queuecast"), "queuecast 90 % 40.0 30.0 40.0");
        assert_eq!(line(&text, "0.95 "), "0.95 0.960 0.920 24,001 to 28,000");
        assert_eq!(line(&text, "≥ 100,000 s"), "≥ 100,000 s 0 - - - - - - -");
        assert!(text.contains("tables VI and VII"), "{text}");
    }

    #[test]
    fn a_log_that_the_paper_does_not_have_gets_no_published_column() {
        let text = one(&report("KTH-SP2-1996-2.1-cln"));
        assert!(!text.contains("published"), "{text}");
        assert_eq!(line(&text, "rangeSets"), "rangeSets 75 % 70.0 60.0 55.0");
    }

    #[test]
    fn several_logs_share_tables() {
        let text = several(&[report("SDSC-Par-1996-3.1-cln"), report("KTH-SP2-1996-2.1-cln")]);
        assert_eq!(line(&text, "SDSC-Par"), "SDSC-Par-1996-3.1-cln 34,041 80 % 65 % 60 % (89 %) 85 % (70 %) 70 % (75 %) 75 % (78 %) 90 %");
        assert_eq!(line(&text, "KTH-SP2"), "KTH-SP2-1996-2.1-cln 34,041 80 % 65 % 60 % 85 % 70 % 75 % 90 %");
        assert!(line(&text, "SDSC-Par-1996-3.1-cln: ").contains("differ"), "{text}");
    }
}
