//! The reports for people.

use comfy_table::Table;
use command_parts::output::{Lines, count};
use simulator::evaluation::{IN_FORCE, PartReport, SizeReport};

use super::WaitsOfLog;
use crate::evaluate::methods;
use crate::evaluate::tables::{
    ForecastReport, LEVELS, by_class, class_name, coverage, figure, figures_table, interval, log_and_jobs, notes_of_logs, over_logs,
    percent, probability, published, source_of_brackets, source_of_published,
};

/// The report on one log.
pub(super) fn one(log: &WaitsOfLog) -> String {
    let mut lines = Lines::default();
    let found = &log.found;
    log_and_jobs(&mut lines, log);

    lines.heading("Errors of the point forecast");
    lines.table(&errors(log));
    source_of_published(&mut lines, log);
    lines.heading("Mean absolute error by class of wait, in hours (figure 5)");
    let classes = found.by_wait.iter().map(|class| (class_name(class.at_least_s, class.below_s), class.jobs, &class.aae_hours));
    lines.table(&by_class("wait", classes));

    lines.heading("Probabilities: the part of the jobs that waited at most the forecast quantile");
    let others = [("in force", &found.in_force_coverage), ("QBETS", &found.qbets_coverage)];
    lines.table(&coverage(&found.jobs(), &found.coverage, &found.block_coverage, &others));
    lines.plain("QBETS gives upper bounds at 95 % confidence: at least the nominal part is to be below them");
    let losses: Vec<String> = methods::ordered(found.pinball_hours.keys().copied())
        .into_iter()
        .map(|key| format!("{} {} h", methods::name(key), figure(found.pinball_hours.get(key))))
        .collect();
    if !losses.is_empty() {
        lines.line("pinball loss", losses.join(", "));
    }
    lines.line("without bounds", without_bounds(log));

    lines.heading("The same by queue");
    lines.table(&by_part("queue", found.by_queue.iter().map(|queue| (queue.queue.clone(), &queue.part))));
    lines.heading("The same by size");
    lines.table(&by_part("processors", found.by_size.iter().map(|size| (size_name(size), &size.part))));
    lines.plain(
        "by default: the part of the jobs for which the default would have been in force; the others fall back to QBETS, or to nothing",
    );

    lines.heading("The default");
    let mut weights: Vec<(&str, f64)> = found.member_weights.iter().map(|(key, weight)| (*key, *weight)).collect();
    weights.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    let weights: Vec<String> = weights.into_iter().map(|(key, weight)| format!("{} {weight:.2}", methods::name(key))).collect();
    if !weights.is_empty() {
        lines.line("members", format!("{} (mean weights)", weights.join(", ")));
    }
    lines.line("in force", format!("for {} of the jobs", percent(found.in_force.get(BLENDED))));
    let time = found.prediction_us;
    lines.line("one forecast", format!("takes {:.1} µs, 99 % take at most {:.1} µs", time.p50, time.p99));
    lines.text()
}

/// Tables over several logs, as table V.
pub(super) fn several(logs: &[WaitsOfLog]) -> String {
    let mut lines = Lines::default();
    lines.heading("Mean absolute error of forecasts of waits, in hours (table V)");
    lines.table(&over_logs(logs, |found| &found.aae_hours, |theirs| &theirs.aae_hours, figure));
    lines.heading("Absolute error over the response time, mean (table V)");
    lines.table(&over_logs(logs, |found| &found.scaled_aae, |theirs| &theirs.scaled_aae, figure));
    source_of_brackets(&mut lines, logs);
    lines.heading("The default, and what is in force: errors and pinball losses in hours, and the part of the jobs that waited at most the forecast quantile");
    let columns = ["mean", "95 % interval", "median", "within factor 2", "0.5", "0.75", "0.9", "0.95", "pinball", "QBETS's", "by default"];
    let mut table = figures_table(["log", "jobs", "forecast"], columns);
    for log in logs {
        let found = &log.found;
        for (key, covered) in [(methods::DEFAULT, &found.coverage), (IN_FORCE, &found.in_force_coverage)] {
            let mut row = vec![log.log.clone(), count(found.test_jobs as u64), methods::name(key)];
            row.push(figure(found.aae_hours.get(key)));
            row.push(interval(found.aae_interval_hours.get(key)));
            row.push(figure(found.median_ae_hours_by_method.get(key)));
            row.push(percent(found.within_factor_2_by_method.get(key)));
            row.extend(LEVELS.map(|nominal| probability(covered.get(nominal))));
            row.extend([key, "qbets"].map(|key| figure(found.pinball_hours.get(key))));
            row.push(percent(if key == IN_FORCE { found.in_force.get(BLENDED) } else { None }));
            table.add_row(row);
        }
    }
    lines.table(&table);
    notes_of_logs(&mut lines, logs);
    lines.text()
}

/// How many jobs are left out of all that is said of bounds, because there were none.
fn without_bounds(log: &WaitsOfLog) -> String {
    let without = &log.found.jobs_without_bounds;
    let each = methods::ordered(without.keys().copied());
    let each = each.into_iter().map(|key| format!("{} {}", methods::name(key), count(without.get(key).copied().unwrap_or(0) as u64)));
    format!("{} of {} jobs, left out here", each.collect::<Vec<_>>().join(", "), count(log.found.test_jobs as u64))
}

/// The default's name among those that can be in force.
const BLENDED: &str = "blended";

fn size_name(size: &SizeReport) -> String {
    let least = count(size.at_least_processors.into());
    match size.at_most_processors {
        Some(most) if most == size.at_least_processors => least,
        Some(most) => format!("{least} to {}", count(most.into())),
        None => format!("≥ {least}"),
    }
}

/// Coverage by part of the jobs: of the default, of what was in force, and of QBETS's bounds.
fn by_part<'a>(what: &'static str, parts: impl Iterator<Item = (String, &'a PartReport)>) -> Table {
    let columns = LEVELS.iter().map(|level| (*level).to_owned());
    let in_force = LEVELS.iter().map(|level| format!("in force {level}"));
    let of_qbets = LEVELS.iter().map(|level| format!("QBETS {level}"));
    let last = ["no bounds", "by default"].map(str::to_owned);
    let header = ["jobs".to_owned()].into_iter().chain(columns).chain(in_force).chain(of_qbets).chain(last);
    let mut table = figures_table([what], header);
    for (name, part) in parts {
        let mut row = vec![name, count(part.jobs as u64)];
        row.extend(
            [&part.coverage, &part.in_force_coverage, &part.qbets_coverage]
                .into_iter()
                .flat_map(|of| LEVELS.map(|level| probability(of.get(level)))),
        );
        row.push(count(part.jobs_without_bounds as u64));
        row.push(percent(Some(part.in_force.get(BLENDED).unwrap_or(&0.0))));
        table.add_row(row);
    }
    table
}

fn errors(log: &WaitsOfLog) -> Table {
    let found = &log.found;
    let mut columns = vec!["mean (h)", "95 % interval", "scaled", "median (h)", "within factor 2"];
    if log.published.is_some() {
        columns.insert(2, "published (h)");
        columns.insert(4, "published scaled");
    }
    let mut table = figures_table(["method"], columns);
    for key in methods::ordered(found.aae_hours.keys().copied()) {
        let mut row = vec![methods::name(key), figure(found.aae_hours.get(key)), interval(found.aae_interval_hours.get(key))];
        row.extend(published(log, key, |figures| &figures.aae_hours, figure));
        row.push(figure(found.scaled_aae.get(key)));
        row.extend(published(log, key, |figures| &figures.scaled_aae, figure));
        row.push(figure(found.median_ae_hours_by_method.get(key)));
        row.push(percent(found.within_factor_2_by_method.get(key)));
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
        assert_eq!(line(&text, "APQ"), "APQ 5.00 4.50 to 5.50 7.84 96.0 11.8 0.60 40 %");
        assert_eq!(line(&text, "queuecast"), "queuecast 3.00 2.50 to 3.50 94.0 0.40 60 %");
        assert_eq!(line(&text, "in force 2"), "in force 2.00 1.50 to 2.50 93.0 0.30 70 %");
        assert_eq!(line(&text, "0.95 "), "0.95 0.960 0.920 24,001 to 28,000 0.970 0.980");
        assert_eq!(line(&text, "pinball"), "pinball loss QBETS 4.25 h, queuecast 1.50 h, in force 1.75 h");
        assert_eq!(line(&text, "without bounds"), "without bounds QBETS 0, queuecast 41, in force 17 of 34,041 jobs, left out here");
        assert_eq!(line(&text, "members"), "members trees 0.70, k nearest 0.20, predict 0 0.10 (mean weights)");
        assert!(text.contains("table V") && text.contains("54,006"), "{text}");
    }

    #[test]
    fn who_pays_for_the_coverage_is_told_by_queue_and_by_size() {
        let text = one(&report("KTH-SP2-1996-2.1-cln"));
        assert_eq!(line(&text, "4/1 "), "4/1 4,041 0.460 0.710 0.860 0.910 0.520 0.770 0.920 0.970 0.530 0.780 0.930 0.980 5 90 %");
        assert_eq!(line(&text, "≥ 4,097 "), "≥ 4,097 41 0.300 0.550 0.700 0.750 0.520 0.770 0.920 0.970 0.530 0.780 0.930 0.980 5 90 %");
        assert_eq!(line(&text, "in force for"), "in force for 90 % of the jobs");
    }

    #[test]
    fn a_log_that_the_paper_does_not_have_gets_no_published_column() {
        let text = one(&report("KTH-SP2-1996-2.1-cln"));
        assert!(!text.contains("published"), "{text}");
        assert_eq!(line(&text, "APQ"), "APQ 5.00 4.50 to 5.50 96.0 0.60 40 %");
    }

    #[test]
    fn it_is_said_where_the_papers_log_is_another() {
        let text = one(&report("HPC2N-2002-2.2-cln"));
        assert!(line(&text, "note").contains("another cleaning"), "{text}");
        let text = several(&[report("HPC2N-2002-2.2-cln"), report("KTH-SP2-1996-2.1-cln"), report("DAS2-fs1-2003-1")]);
        assert!(line(&text, "HPC2N-2002-2.2-cln: ").contains("another cleaning"), "{text}");
        assert!(line(&text, "DAS2-fs1-2003-1: ").contains("differ"), "{text}");
    }

    #[test]
    fn several_logs_share_a_table() {
        let text = several(&[report("SDSC-SP2-1998-4.2-cln"), report("KTH-SP2-1996-2.1-cln")]);
        assert_eq!(line(&text, "SDSC-SP2"), "SDSC-SP2-1998-4.2-cln 34,041 9.00 8.00 7.00 (44.4) 6.00 (9.42) 5.00 (7.84) 4.00 3.00 2.00");
        assert_eq!(line(&text, "KTH-SP2"), "KTH-SP2-1996-2.1-cln 34,041 9.00 8.00 7.00 6.00 5.00 4.00 3.00 2.00");
    }

    #[test]
    fn what_is_in_force_stands_below_the_default_on_each_log() {
        let text = several(&[report("SDSC-SP2-1998-4.2-cln")]);
        let of = |what: &str| line(&text, &format!("SDSC-SP2-1998-4.2-cln 34,041 {what}"));
        assert!(of("queuecast").ends_with("3.00 2.50 to 3.50 0.40 60 % 0.510 0.760 0.910 0.960 1.50 4.25 -"), "{text}");
        assert!(of("in force").ends_with("2.00 1.50 to 2.50 0.30 70 % 0.520 0.770 0.920 0.970 1.75 4.25 90 %"), "{text}");
    }
}
