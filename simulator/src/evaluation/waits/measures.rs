//! Errors, coverage and other measures of the forecasts.

use job_types::job::Job;
use learning::distribution_scores::{self, Levels, transform};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::coverage::{bound_coverage, coverage, share};
use super::jobs::{Errors, Tried};
use super::methods::{Bounds, Method};
use super::{Forecasts, InForce, Replay, WaitOptions};
use crate::evaluation::averages::{mean, median};
use crate::evaluation::report::{ByMethod, IN_FORCE, PredictionTime, WaitClassReport, WaitReport};

/// Lower ends of the classes of wait of figure 5, in seconds.
const WAIT_CLASSES_S: [u64; 5] = [0, 100, 1_000, 10_000, 100_000];

/// Jobs of a block, for coverage and for the bootstrap.
const COVERAGE_BLOCK: usize = 4_000;
const BOOTSTRAP_BLOCK: usize = 500;
const BOOTSTRAP_SAMPLES: usize = 1_000;

const HOUR_S: f64 = 3_600.0;

pub(super) fn report(replay: &Replay, queues: &[String], options: &WaitOptions, forecasts: Vec<Forecasts>) -> WaitReport {
    let jobs: Vec<&Job> = replay.test_rows().iter().filter_map(|row| replay.past.job(*row)).collect();
    let waits_s: Vec<f64> = jobs.iter().map(|job| job.wait().map_or(0.0, |wait| wait.0 as f64)).collect();
    let responses_s: Vec<f64> =
        jobs.iter().zip(&waits_s).map(|(job, wait_s)| wait_s + job.run_time().map_or(0.0, |time| time.0 as f64)).collect();
    let find = |method| forecasts.iter().find(|found| found.method == method);
    let best = find(Method::Best);
    let in_force: &[InForce] = best.map_or(&[], |best| &best.in_force);
    let mut points: Vec<(&'static str, Vec<Option<f64>>)> = Vec::new();
    for found in forecasts.iter().filter(|found| found.points_s.len() == waits_s.len()) {
        points.push((found.method.name(), found.points_s.iter().copied().map(Some).collect()));
        let members = found.members.iter().filter(|(name, _)| *name != Method::Zero.name());
        points.extend(members.map(|(name, points_s)| (*name, points_s.iter().copied().map(Some).collect())));
    }
    // Where nothing was in force there is no error, which is not an error of 0.
    if in_force.iter().any(|in_force| in_force.point_s.is_some()) {
        points.push((IN_FORCE, in_force.iter().map(|in_force| in_force.point_s).collect()));
    }
    let errors: Errors = points
        .iter()
        .map(|(name, points_s)| (*name, points_s.iter().zip(&waits_s).map(|(point, wait)| Some((point.as_ref()? - wait).abs())).collect()))
        .collect();
    let errors_hours: Errors =
        errors.iter().map(|(name, errors)| (*name, errors.iter().map(|error| error.map(|error| error / HOUR_S)).collect())).collect();
    let by_method = |measure: &dyn Fn(&[Option<f64>]) -> f64| -> ByMethod<f64> {
        errors.iter().map(|(name, errors)| (*name, measure(errors))).collect()
    };
    let within: ByMethod<f64> = points.iter().map(|(name, points_s)| (*name, within_factor_2(points_s, &waits_s))).collect();
    let medians = by_method(&|errors| median(errors.iter().copied().flatten().collect()) / HOUR_S);
    let no_bounds = Vec::new();
    let bounds = best.map_or(&no_bounds, |best| &best.bounds);
    let qbets_bounds = find(Method::Qbets).map_or(&no_bounds, |found| &found.bounds);
    let in_force_bounds: Vec<Option<Bounds>> = in_force.iter().map(|in_force| in_force.bounds).collect();
    let [transforms, in_force_transforms] = [bounds, &in_force_bounds].map(|bounds| transforms(bounds, &waits_s, options.seed));
    let bounded: Vec<(&'static str, &Vec<Option<Bounds>>)> = [
        best.map(|_| (Method::Best.name(), bounds)),
        find(Method::Qbets).map(|_| (Method::Qbets.name(), qbets_bounds)),
        best.map(|_| (IN_FORCE, &in_force_bounds)),
    ]
    .into_iter()
    .flatten()
    .collect();
    let mut pinball_hours = ByMethod::new();
    for (name, bounds) in &bounded {
        if let Some(loss_s) = pinball_s(bounds, &waits_s) {
            pinball_hours.insert(*name, loss_s / HOUR_S);
        }
    }
    let in_force_points_s: Vec<Option<f64>> = in_force.iter().map(|in_force| in_force.point_s).collect();
    let sources: Vec<&'static str> = in_force.iter().map(|in_force| in_force.source.name()).collect();
    let tried = Tried {
        jobs: &jobs,
        queues,
        waits_s: &waits_s,
        errors_hours: &errors_hours,
        points_s: best.map_or(&[], |best| &best.points_s),
        bounds,
        transforms: &transforms,
        qbets_bounds,
        in_force: &sources,
        in_force_points_s: &in_force_points_s,
        in_force_transforms: &in_force_transforms,
    };
    let best_name = Method::Best.name();
    WaitReport {
        test_jobs: waits_s.len(),
        aae_hours: by_method(&|errors| mean(errors.iter().copied().flatten()) / HOUR_S),
        median_ae_hours: medians.get(best_name).copied().unwrap_or_default(),
        coverage: coverage(&transforms),
        within_factor_2: within.get(best_name).copied().unwrap_or_default(),
        prediction_us: prediction_time(best.map_or(&[], |best| &best.durations_s)),
        jobs_without_bounds: bounded.iter().map(|(name, bounds)| (*name, without_bounds(bounds))).collect(),
        from: replay.test.start + 1,
        to: replay.test.end,
        aae_interval_hours: errors
            .iter()
            .map(|(name, errors)| (*name, bootstrap_interval(errors, options.seed).map(|bound| bound / HOUR_S)))
            .collect(),
        scaled_aae: errors
            .iter()
            .map(|(name, errors)| {
                let scaled = errors.iter().zip(&responses_s).filter_map(|(error, response)| Some(error.as_ref()? / response.max(1.0)));
                (*name, mean(scaled))
            })
            .collect(),
        median_ae_hours_by_method: medians,
        within_factor_2_by_method: within,
        by_wait: by_wait(&errors, &waits_s),
        block_coverage: transforms.chunks(COVERAGE_BLOCK).map(coverage).collect(),
        reliability: reliability(&transforms),
        pinball_hours,
        qbets_coverage: bound_coverage(qbets_bounds.iter().zip(&waits_s)),
        member_weights: best.map_or_else(ByMethod::new, |best| best.weights.iter().copied().collect()),
        in_force: tried.in_force(),
        in_force_coverage: coverage(&in_force_transforms),
        by_queue: tried.by_queue(),
        by_size: tried.by_size(),
        forecasts: tried.forecasts(replay.test.start + 1),
        notes: forecasts.iter().flat_map(|found| found.notes.iter().cloned()).collect(),
    }
}

/// The part of the jobs with a point whose wait it is within a factor of two of.
fn within_factor_2(points_s: &[Option<f64>], waits_s: &[f64]) -> f64 {
    let known: Vec<(f64, f64)> = points_s.iter().zip(waits_s).filter_map(|(point, wait)| Some(((*point)?, *wait))).collect();
    let is_within = |(point, wait): &&(f64, f64)| {
        let (point, wait) = (point.max(60.0), wait.max(60.0));
        point <= 2.0 * wait && wait <= 2.0 * point
    };
    known.iter().filter(is_within).count() as f64 / known.len().max(1) as f64
}

/// The interval between the quantiles 0.025 and 0.975 of the means of samples of blocks, drawn with
/// replacement: neighbouring jobs' errors are alike, single ones would make it too narrow.
fn bootstrap_interval(errors: &[Option<f64>], seed: u64) -> [f64; 2] {
    let sum = |block: &[Option<f64>]| (block.iter().flatten().sum(), block.iter().flatten().count());
    let blocks: Vec<(f64, usize)> = errors.chunks(BOOTSTRAP_BLOCK).map(sum).collect();
    if blocks.is_empty() {
        return [0.0; 2];
    }
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut means: Vec<f64> = (0..BOOTSTRAP_SAMPLES)
        .map(|_| {
            let drawn = (0..blocks.len()).map(|_| blocks.get(random.random_range(0..blocks.len())).copied().unwrap_or_default());
            let (sum, count) = drawn.fold((0.0, 0), |(sum, count), (block, jobs)| (sum + block, count + jobs));
            sum / count.max(1) as f64
        })
        .collect();
    means.sort_unstable_by(f64::total_cmp);
    let at = |part: f64| means.get((part * means.len() as f64) as usize).copied().unwrap_or_default();
    [at(0.025), at(0.975)]
}

/// The randomised probability integral transform of each wait; `None` where there were no bounds.
fn transforms(bounds: &[Option<Bounds>], waits_s: &[f64], seed: u64) -> Vec<Option<f64>> {
    let mut random = ChaCha8Rng::seed_from_u64(seed ^ 0x5049_5400);
    let drawn = |(bounds, wait_s): (&Option<Bounds>, &f64)| {
        // One is drawn for each job, so that the others' do not depend on who had bounds.
        let part: f64 = random.random();
        Some(transform(bounds.as_ref()?, *wait_s, part))
    };
    bounds.iter().zip(waits_s).map(drawn).collect()
}

/// Nominal probabilities and the part of the jobs with bounds at most at each; nothing where no job
/// had bounds.
fn reliability(transforms: &[Option<f64>]) -> Vec<[f64; 2]> {
    let known: Vec<f64> = transforms.iter().copied().flatten().collect();
    if known.is_empty() {
        return Vec::new();
    }
    (1..20).map(|step| f64::from(step) / 20.0).map(|level| [level, share(&known, level)]).collect()
}

fn without_bounds(bounds: &[Option<Bounds>]) -> usize {
    bounds.iter().filter(|bounds| bounds.is_none()).count()
}

/// Mean over the jobs with bounds and over the quantiles 0.05 to 0.95 of the pinball loss in
/// seconds; `None` where no job had bounds.
fn pinball_s(bounds: &[Option<Bounds>], waits_s: &[f64]) -> Option<f64> {
    let bounded = bounds.iter().zip(waits_s).filter_map(|(bounds, wait_s)| Some((bounds.as_ref()?, *wait_s)));
    let losses: Vec<f64> =
        bounded.map(|(bounds, wait_s)| distribution_scores::pinball_s(bounds, wait_s, Levels::EveryFivePercent)).collect();
    (!losses.is_empty()).then(|| mean(losses))
}

fn prediction_time(durations_s: &[f64]) -> PredictionTime {
    let mut sorted = durations_s.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let at = |part: f64| sorted.get((part * sorted.len() as f64) as usize).copied().unwrap_or_default() * 1e6;
    PredictionTime { p50: at(0.5), p99: at(0.99) }
}

fn by_wait(errors: &Errors, waits_s: &[f64]) -> Vec<WaitClassReport> {
    let ends = WAIT_CLASSES_S.iter().copied().skip(1).map(Some).chain([None]);
    let class = |(at_least_s, below_s): (u64, Option<u64>)| {
        let is_in = |wait: f64| wait >= at_least_s as f64 && below_s.is_none_or(|below| wait < below as f64);
        let rows: Vec<usize> = (0..waits_s.len()).filter(|row| waits_s.get(*row).copied().is_some_and(is_in)).collect();
        let of = |errors: &Vec<Option<f64>>| mean(rows.iter().filter_map(|row| errors.get(*row).copied().flatten())) / HOUR_S;
        WaitClassReport {
            at_least_s,
            below_s,
            jobs: rows.len(),
            aae_hours: errors.iter().map(|(name, errors)| (*name, of(errors))).collect(),
        }
    };
    WAIT_CLASSES_S.into_iter().zip(ends).map(class).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use predictor_core::forecasts::forecast::PERCENTILES;

    #[test]
    fn a_job_without_bounds_is_neither_well_calibrated_nor_a_loss() {
        let bounds = [None, Some([10; PERCENTILES]), None];
        let waits_s = [100_000.0, 10.0, 100_000.0];
        let found = transforms(&bounds, &waits_s, 1);
        assert_eq!((found[0], found[1].is_some(), found[2]), (None, true, None));
        assert_eq!((pinball_s(&bounds, &waits_s), without_bounds(&bounds)), (Some(0.0), 2));
        assert_eq!((pinball_s(&[None], &[1.0]), reliability(&[None]), coverage(&[None]).len()), (None, Vec::new(), 0));
        assert_eq!(reliability(&[Some(0.5), None])[8..10], [[0.45, 0.0], [0.5, 1.0]]);
    }
}
