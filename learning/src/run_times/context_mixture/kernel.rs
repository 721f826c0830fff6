//! How the probability of one past run time is spread over the bins about it.

use std::sync::LazyLock;

/// Kernels, from narrow to wide.
pub(super) const KERNELS: usize = 3;
/// No kernel reaches further, in bins.
const REACH: i32 = 36;
const WIDTH: usize = 2 * REACH as usize + 1;

/// Shares and cumulative shares of each kernel by distance from `-REACH` on.
static TABLES: LazyLock<[[(f64, f64); WIDTH]; KERNELS]> = LazyLock::new(|| {
    // The job repeats itself to the second; within a sixth; within a factor of two.
    let heights: [fn(f64) -> f64; KERNELS] = [
        |distance| {
            if distance == 0.0 {
                0.9
            } else if distance <= 1.0 {
                0.05
            } else {
                0.0
            }
        },
        |distance| if distance <= 3.0 { [0.3, 0.2, 0.1, 0.05].get(distance as usize).copied().unwrap_or(0.0) } else { 0.0 },
        |distance| (-0.5 * (distance / 12.0).powi(2)).exp(),
    ];
    heights.map(|height| {
        let sum: f64 = (-REACH..=REACH).map(|distance| height(f64::from(distance.abs()))).sum();
        let mut table = [(0.0, 0.0); WIDTH];
        let mut below = 0.0;
        for (distance, entry) in (-REACH..=REACH).zip(&mut table) {
            let share = height(f64::from(distance.abs())) / sum;
            below += share;
            *entry = (share, below);
        }
        table
    })
});

/// The share of a kernel about `centre` that lies in the bins up to `bin`.
pub(super) fn up_to(kernel: usize, bin: i32, centre: i32) -> f64 {
    let distance = bin - centre;
    if distance < -REACH {
        return 0.0;
    }
    TABLES.get(kernel).and_then(|table| table.get((distance + REACH) as usize)).map_or(1.0, |(_, below)| *below)
}

/// Adds to `bins` the share of each bin of `mass` about `centre`; what lies beyond an end belongs
/// to the bin at that end.
pub(super) fn spread(kernel: usize, mass: f64, centre: usize, bins: &mut [f64]) {
    let (Some(table), Some(last)) = (TABLES.get(kernel), bins.len().checked_sub(1)) else { return };
    for (distance, (share, _)) in (-REACH..=REACH).zip(table) {
        if *share > 0.0 {
            let bin = (centre as i32 + distance).clamp(0, last as i32) as usize;
            if let Some(bin) = bins.get_mut(bin) {
                *bin += mass * share;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_mass_is_kept_and_its_sums_are_those_of_the_table() {
        for kernel in 0..KERNELS {
            let mut bins = [0.0; 60];
            spread(kernel, 2.0, 5, &mut bins);
            assert!((bins.iter().sum::<f64>() - 2.0).abs() < 1e-9);
            let mut below = 0.0;
            for (bin, mass) in (0i32..59).zip(bins) {
                below += mass;
                assert!((below - 2.0 * up_to(kernel, bin, 5)).abs() < 1e-9, "{kernel} {bin}");
            }
        }
    }
}
