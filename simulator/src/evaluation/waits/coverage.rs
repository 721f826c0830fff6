//! How often forecast quantiles of waits held.

use std::collections::BTreeMap;

use super::methods::Bounds;

/// Nominal levels whose coverage is reported.
const LEVELS: [(&str, f64); 4] = [("0.5", 0.5), ("0.75", 0.75), ("0.9", 0.9), ("0.95", 0.95)];

/// The part of the transforms that are at most a level.
pub(super) fn share(transforms: &[f64], level: f64) -> f64 {
    transforms.iter().filter(|transform| **transform <= level).count() as f64 / transforms.len().max(1) as f64
}

/// Returns, for each level, the part of the jobs with bounds whose wait lies below that quantile of
/// its forecast; nothing where no job had bounds.
pub(super) fn coverage(transforms: &[Option<f64>]) -> BTreeMap<&'static str, f64> {
    let known: Vec<f64> = transforms.iter().copied().flatten().collect();
    if known.is_empty() {
        return BTreeMap::new();
    }
    LEVELS.iter().map(|(name, level)| (*name, share(&known, *level))).collect()
}

/// The bound at `level`, rounded to a whole percentile.
pub(super) fn percentile(bounds: &Bounds, level: f64) -> u32 {
    let index = ((level * 100.0).round() as usize).clamp(1, bounds.len()) - 1;
    bounds.get(index).copied().unwrap_or(0)
}

/// The part of the jobs with bounds whose wait was at most the bound, by level; nothing where no
/// job had bounds.
pub(super) fn bound_coverage<'a>(jobs: impl Iterator<Item = (&'a Option<Bounds>, &'a f64)>) -> BTreeMap<&'static str, f64> {
    let known: Vec<(&Bounds, f64)> = jobs.filter_map(|(bounds, wait)| Some((bounds.as_ref()?, *wait))).collect();
    if known.is_empty() {
        return BTreeMap::new();
    }
    let held = |level: f64| known.iter().filter(|(bounds, wait)| *wait <= f64::from(percentile(bounds, level))).count() as f64;
    LEVELS.iter().map(|(name, level)| (*name, held(*level) / known.len() as f64)).collect()
}
