//! Run times and sizes, and how they go together.

use rand::Rng;
use rand::seq::SliceRandom;

use super::Shape;
use super::cells::Cells;
use super::published::{
    CATEGORY_BORDERS_SECONDS, JOB_NODE_SECONDS, JOBS, LONGEST_SECONDS, MEAN_NODES, NODE_SECONDS, NODES, POWERS_OF_TWO, RUN_TIMES_SECONDS,
    SHORTER_THAN, WIDEST,
};
use super::quantiles::Quantiles;

/// The shortest run time: the thesis's logs are in milliseconds, and its 10 % are at 0.26 s.
const SHORTEST_SECONDS: f64 = 0.08;
/// Jobs of more than 65 nodes have up to so many, or the whole machine: in the mean the thesis's
/// cluster had about 100 nodes that could be used (7.2.1.1).
const WIDE_UP_TO: u32 = 100;
/// How often the sums of the table are put right, after which they are met.
const ROUNDS: usize = 150;

/// What a job does: for how long, on how many nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Work {
    pub(super) run_time_milliseconds: u64,
    pub(super) nodes: u32,
}

impl Work {
    pub(super) fn node_seconds(&self) -> f64 {
        f64::from(self.nodes) * self.run_time_milliseconds as f64 / 1000.0
    }
}

/// The run times of the year in milliseconds, ascending.
fn run_times() -> Vec<u64> {
    let counted = SHORTER_THAN.map(|(seconds, jobs, _)| (jobs as f64 / JOBS as f64, seconds));
    let ends = [(0.0, SHORTEST_SECONDS), (1.0, LONGEST_SECONDS)];
    let quantiles = Quantiles::through(RUN_TIMES_SECONDS.into_iter().chain(counted).chain(CATEGORY_BORDERS_SECONDS).chain(ends));
    // The longest job is the longest of all; the others lie in the middle of their ranks.
    let rank = |place: usize| if place + 1 == JOBS { 1.0 } else { (place as f64 + 0.5) / JOBS as f64 };
    (0..JOBS).map(|place| (quantiles.at(rank(place), 1.0) * 1000.0) as u64).collect()
}

/// How many jobs have each size, from 1 to the whole machine. Sizes between powers of two are the
/// rarer the larger they are, as steeply as the mean of all sizes asks for.
fn sizes(shape: &Shape) -> Vec<f64> {
    let mut counts = vec![0.0; NODES as usize];
    let mut put = |nodes: u32, jobs: f64| counts[nodes as usize - 1] = jobs;
    let whole = (shape.whole_machine * WIDEST as f64).round();
    let others: Vec<u32> = (66..=WIDE_UP_TO).collect();
    put(NODES, whole);
    others.iter().for_each(|nodes| put(*nodes, (WIDEST as f64 - whole) / others.len() as f64));
    POWERS_OF_TWO.into_iter().for_each(|(nodes, jobs)| put(nodes, jobs as f64));
    let known: f64 = counts.iter().sum();
    let of_known: f64 = counts.iter().zip(1..).map(|(jobs, nodes)| jobs * f64::from(nodes)).sum();
    let rest = JOBS as f64 - known;
    let mean = (MEAN_NODES * JOBS as f64 - of_known) / rest;
    let between: Vec<u32> = (3..=65).filter(|nodes: &u32| !nodes.is_power_of_two()).collect();
    let weights = |steepness: f64| between.iter().map(move |nodes| f64::from(*nodes).powf(-steepness));
    let mean_at = |steepness: f64| {
        let sum: f64 = weights(steepness).sum();
        weights(steepness).zip(&between).map(|(weight, nodes)| weight * f64::from(*nodes)).sum::<f64>() / sum
    };
    let (mut flat, mut steep) = (-2.0, 4.0);
    for _ in 0..60 {
        let middle = f64::midpoint(flat, steep);
        if mean_at(middle) > mean { flat = middle } else { steep = middle }
    }
    let sum: f64 = weights(steep).sum();
    weights(steep).zip(&between).for_each(|(weight, nodes)| counts[*nodes as usize - 1] = rest * weight / sum);
    whole_numbers(&counts)
}

/// The same numbers as whole ones, with the same sum.
fn whole_numbers(counts: &[f64]) -> Vec<f64> {
    let mut sum = 0.0_f64;
    let whole = |count: &f64| {
        let before = (sum + 1e-6).round();
        sum += count;
        (sum + 1e-6).round() - before
    };
    counts.iter().map(whole).collect()
}

/// The ranks at which rows of the table begin and end: finer where run times are longer, and cut
/// where the thesis counts jobs.
fn row_ends() -> Vec<usize> {
    let ranks = (1..198).map(|rank| f64::from(rank) / 200.0).chain((1..19).map(|rank| 0.9895 + f64::from(rank) / 2000.0));
    let top = (0..20).map(|rank| 0.9990 + f64::from(rank) / 20_000.0);
    let mut ends: Vec<usize> = ranks.chain(top).map(|rank| (rank * JOBS as f64) as usize).collect();
    ends.extend(SHORTER_THAN.map(|(_, jobs, _)| jobs));
    ends.push(JOBS);
    ends.sort_unstable();
    ends.dedup();
    ends
}

/// All jobs of the year, those that run for longer later.
pub(super) fn jobs(shape: &Shape, random: &mut impl Rng) -> Vec<Work> {
    let run_times = run_times();
    let sizes = sizes(shape);
    let ends = row_ends();
    let begins: Vec<usize> = std::iter::once(0).chain(ends.iter().copied()).collect();
    let rows: Vec<&[u64]> = begins.iter().zip(&ends).map(|(begin, end)| &run_times[*begin..*end]).collect();
    let in_row: Vec<f64> = rows.iter().map(|row| row.len() as f64).collect();
    let mean_seconds: Vec<f64> = rows.iter().map(|row| row.iter().sum::<u64>() as f64 / 1000.0 / row.len() as f64).collect();
    let class: Vec<usize> = ends.iter().map(|end| SHORTER_THAN.iter().filter(|(_, jobs, _)| jobs < end).count()).collect();
    let nodes = |column: usize| (column + 1) as f64;
    let bin: Vec<usize> = (0..rows.len() * sizes.len())
        .map(|cell| {
            let node_seconds = mean_seconds[cell / sizes.len()] * nodes(cell % sizes.len());
            JOB_NODE_SECONDS.iter().filter(|(_, below)| *below <= node_seconds).count()
        })
        .collect();
    let bin = |row: usize, column: usize| bin[row * sizes.len() + column];
    let in_bin = between(JOB_NODE_SECONDS.into_iter().map(|(rank, _)| rank * JOBS as f64), JOBS as f64);
    let in_class = between(SHORTER_THAN.into_iter().map(|(_, _, node_seconds)| node_seconds), NODE_SECONDS);
    let guess = |row: usize, column: usize| {
        in_row[row] * sizes[column] * (shape.wide_run_longer * mean_seconds[row].ln() * nodes(column).ln()).exp()
    };
    // What a class lacks in node-seconds is made up for by its longer jobs on more nodes.
    let class_begins = [SHORTEST_SECONDS, 5.0, 30.0, 60.0, 300.0, 3600.0];
    let longer: Vec<f64> =
        mean_seconds.iter().zip(&class).map(|(seconds, class)| 1.0 + (seconds / class_begins[*class]).ln().max(0.0)).collect();
    let together = |row: usize, column: usize| nodes(column).ln() * longer[row];
    let mut cells = Cells::guessed(rows.len(), sizes.len(), guess);
    for _ in 0..ROUNDS {
        cells.scale(bin, &in_bin);
        cells.tilt(|row, _| class[row], |row, column| mean_seconds[row] * nodes(column), together, &in_class);
        cells.scale(|row, _| row, &in_row);
        cells.scale(|_, column| column, &sizes);
    }
    let mut nodes_in_order: Vec<u32> = Vec::with_capacity(JOBS);
    for row in cells.whole(random) {
        let begin = nodes_in_order.len();
        nodes_in_order.extend((1..).zip(row).flat_map(|(nodes, jobs)| std::iter::repeat_n(nodes, jobs)));
        if let Some(here) = nodes_in_order.get_mut(begin..) {
            here.shuffle(random);
        }
    }
    let of = |(run_time_milliseconds, nodes)| Work { run_time_milliseconds, nodes };
    let mut jobs: Vec<Work> = run_times.into_iter().zip(nodes_in_order).map(of).collect();
    let [.., (_, below_an_hour, _)] = SHORTER_THAN;
    settle(&mut jobs, below_an_hour, random);
    jobs
}

/// Exchanges the sizes of long jobs until the sum of all node-seconds and the thousandth job by
/// node-seconds are right: a single job of many nodes and days moves the sum by a hundredth.
fn settle(jobs: &mut [Work], long_from: usize, random: &mut impl Rng) {
    const TRIES: usize = 100_000;
    let [.., (rank, heavy_from)] = JOB_NODE_SECONDS;
    let heavy = (1.0 - rank) * JOBS as f64;
    let is_heavy = |job: &Work| f64::from(u8::from(job.node_seconds() >= heavy_from));
    let mut sums: (f64, f64) = jobs.iter().fold((0.0, 0.0), |sums, job| (sums.0 + job.node_seconds(), sums.1 + is_heavy(job)));
    let distance = |(node_seconds, heavy_jobs): (f64, f64)| (node_seconds / NODE_SECONDS - 1.0).abs() + (heavy_jobs / heavy - 1.0).abs();
    for _ in 0..TRIES {
        let (one, other) = (random.random_range(long_from..jobs.len()), random.random_range(long_from..jobs.len()));
        let (before, after) =
            ([jobs[one], jobs[other]], [Work { nodes: jobs[other].nodes, ..jobs[one] }, Work { nodes: jobs[one].nodes, ..jobs[other] }]);
        let difference = |of: &dyn Fn(&Work) -> f64| after.iter().map(of).sum::<f64>() - before.iter().map(of).sum::<f64>();
        let exchanged = (sums.0 + difference(&Work::node_seconds), sums.1 + difference(&is_heavy));
        if distance(exchanged) < distance(sums) {
            sums = exchanged;
            [jobs[one], jobs[other]] = after;
        }
    }
}

/// What lies between sums that ascend to a last one.
fn between(sums: impl Iterator<Item = f64>, last: f64) -> Vec<f64> {
    let mut before = 0.0;
    sums.chain([last]).map(|sum| sum - std::mem::replace(&mut before, sum)).collect()
}
