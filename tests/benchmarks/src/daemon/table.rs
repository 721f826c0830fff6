//! The figures for people.

use super::figures::{Figures, MOST_HISTORY_S, MOST_REFRESH_MS, MOST_RESIDENT_MIB, MOST_UPTAKE_MS};
use super::site::PARTITIONS;
use super::size::{MORE_JOBS, Size};

/// Prints a line with each figure, and the target where it has one.
pub(super) fn print(figures: &Figures) {
    let Figures { size, learning, resident_mib, refreshes, uptake, restart, fill_s, slurm } = figures;
    let Size { jobs, pending, nodes, .. } = size;
    println!("queuecastd with {jobs} ended jobs, {pending} that wait and {nodes} nodes, {slurm} (filled in {fill_s} s)");
    // The targets of times hold with few jobs and nodes alone.
    let at_most = |most: f64| if size.is_large() { String::new() } else { format!("at most {most}") };

    let first_jobs = format!("(of {} jobs)", learning.first_snapshot_jobs);
    row("first snapshot", learning.first_snapshot_s, "s", &first_jobs);
    row("first snapshot of the whole history", learning.whole_history_s, "s", &at_most(MOST_HISTORY_S));
    row("  all jobs read after", learning.history_read_s, "s", "");
    row("  fitting them", learning.history_fitting_ms, "ms", "");
    row("first snapshot with what was learnt", learning.learnt_s, "s", "");
    row("resident at most", *resident_mib, "MiB", &format!("at most {MOST_RESIDENT_MIB}"));
    row("  with the whole history", learning.resident_after_history_mib, "MiB", "");
    row("  when it had learnt", learning.resident_learnt_mib, "MiB", "");
    row(&format!("  after {} refreshes", size.refreshes), refreshes.resident_after_refreshes_mib, "MiB", "");
    row(&format!("refresh after {MORE_JOBS} more jobs"), refreshes.refresh_ms, "ms", &at_most(MOST_REFRESH_MS));
    row("  reading", refreshes.reading_ms, "ms", "");
    row("  fitting", refreshes.fitting_ms, "ms", "");
    row("  writing", refreshes.writing_ms, "ms", "");
    row(&format!("refresh after none (median of {})", size.refreshes), refreshes.idle_refresh_ms, "ms", "");
    text_row("snapshot", &format!("{:.2}", refreshes.snapshot_mib), "MiB", "");
    let uptake_row = format!("taking it up in slurmctld (median of {})", size.uptakes);
    row(&uptake_row, uptake.uptake_ms, "ms", &format!("at most {MOST_UPTAKE_MS}"));
    text_row("  a submission after that", &format!("{:.2}", uptake.next_submission_ms), "ms", "");
    let partitions = format!("of {}", PARTITIONS.len());
    text_row("partitions with waits from trees", &restart.partitions_from_trees.to_string(), "", &partitions);
    let stopped = format!("({} while stopped)", restart.while_stopped);
    text_row("answers over a restart, of which none fell back", &restart.answers.to_string(), "", &stopped);
    row("  first snapshot after it", restart.first_snapshot_s, "s", "");
}

/// Prints a figure with one digit behind the point.
fn row(what: &str, figure: f64, unit: &str, target: &str) {
    text_row(what, &format!("{figure:.1}"), unit, target);
}

fn text_row(what: &str, figure: &str, unit: &str, target: &str) {
    println!("{what:<52} {figure:>10} {unit:<4} {target}");
}
