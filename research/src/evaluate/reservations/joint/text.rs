//! The report for people.

use comfy_table::Table;
use command_parts::output::{Lines, count};
use simulator::experiment::JointReservations;

use super::JointReport;
use crate::evaluate::tables::{figure, figures_table, probability, with_standard_error};

/// What became of joint reservations, and how far the machines depend on each other.
pub(super) fn report(reports: &[JointReport]) -> String {
    let mut lines = Lines::default();
    lines.heading("Nodes on either of two machines, and on each alone");
    lines.table(&found(reports));
    lines.heading("Joint reservations beside the cheapest on one machine");
    lines.table(&beside_alone(reports));
    lines.heading("A job on both machines, each with the same probability to miss, and nothing withdrawn");
    lines.table(&dependence(reports));
    lines.plain("");
    lines.plain("kept: the part of those given of which a job had its nodes by the reserved time, and its standard error");
    lines.plain("cost: processor hours that their jobs had their nodes for on all machines over those that they ran");
    lines.plain("if independent: what either would be, from first and second, if the machines did not depend on each other");
    lines.text()
}

const NAMES: [&str; 3] = ["log", "beside", "asked for"];

fn names(report: &JointReport) -> Vec<String> {
    let beside = match report.weeks_later {
        0 => report.beside.log.clone(),
        weeks => format!("{}, {weeks} weeks later", report.beside.log),
    };
    vec![report.replayed.log.clone(), beside, report.probability.to_string()]
}

fn outcome(JointReservations { found, on_several }: &JointReservations) -> Vec<String> {
    vec![
        count(found.requested as u64),
        count(found.accepted as u64),
        count(*on_several as u64),
        probability(found.mean_predicted.as_ref()),
        with_standard_error(found.kept_part, found.kept_standard_error),
        figure(found.cost_ratio.as_ref()),
    ]
}

fn found(reports: &[JointReport]) -> Table {
    let figures = ["requested", "accepted", "on both", "predicted", "kept", "cost"];
    let mut table = figures_table([NAMES[0], NAMES[1], NAMES[2], "on"], figures);
    for report in reports {
        let machines = ["first", "second"].into_iter().zip(&report.found.alone);
        for (on, found) in [("either", &report.found.joint)].into_iter().chain(machines) {
            table.add_row([names(report), vec![on.to_owned()], outcome(found)].concat());
        }
    }
    table
}

fn beside_alone(reports: &[JointReport]) -> Table {
    let mut table = figures_table(NAMES, ["accepted", "to be had on one", "expected cost over that"]);
    for report in reports {
        let found = &report.found;
        let figures =
            [count(found.joint.found.accepted as u64), count(found.also_alone as u64), figure(found.expected_over_alone.as_ref())];
        table.add_row([names(report), figures.to_vec()].concat());
    }
    table
}

fn dependence(reports: &[JointReport]) -> Table {
    let figures = ["pairs", "first kept", "second kept", "either kept", "if independent", "correlation of misses"];
    let mut table = figures_table(NAMES, figures);
    for report in reports {
        let found = &report.found.dependence;
        let parts = [found.first_kept, found.second_kept, found.either_kept, found.either_if_independent, found.correlation];
        let parts = parts.map(|part| probability(part.as_ref()));
        table.add_row([names(report), vec![count(found.pairs as u64)], parts.to_vec()].concat());
    }
    table
}
