//! A table of how many jobs are in each row and column, fitted to the sums that are known of it.
//!
//! Iterative proportional fitting: every known sum is put right in turn, and all that is not known
//! stays as near to the first guess as it can.

use rand::Rng;

/// A table of numbers of jobs, of which parts may stand for chances.
#[derive(Debug, Clone)]
pub(super) struct Cells {
    columns: usize,
    cells: Vec<f64>,
}

impl Cells {
    /// A table with this first guess.
    pub(super) fn guessed(rows: usize, columns: usize, guess: impl Fn(usize, usize) -> f64) -> Self {
        let cells = (0..rows * columns).map(|cell| guess(cell / columns, cell % columns)).collect();
        Self { columns, cells }
    }

    /// Each row, as a list of its cells.
    pub(super) fn rows(&self) -> impl Iterator<Item = &[f64]> {
        self.cells.chunks(self.columns)
    }

    /// Scales the cells of each group so that they sum up to what is known of it.
    pub(super) fn scale(&mut self, group: impl Fn(usize, usize) -> usize, known: &[f64]) {
        let mut sums = vec![0.0; known.len()];
        for (cell, jobs) in self.cells.iter().enumerate() {
            sums[group(cell / self.columns, cell % self.columns)] += jobs;
        }
        let factors: Vec<f64> = known.iter().zip(&sums).map(|(known, sum)| if *sum > 0.0 { known / sum } else { 0.0 }).collect();
        for (cell, jobs) in self.cells.iter_mut().enumerate() {
            *jobs *= factors[group(cell / self.columns, cell % self.columns)];
        }
    }

    /// Favours jobs with much, or little, of something, so that its sum over the jobs of each
    /// group comes nearer to what is known of it. `favour` says how much a cell is favoured
    /// where there is too little: it has to grow with what the jobs have of it.
    pub(super) fn tilt(
        &mut self,
        group: impl Fn(usize, usize) -> usize,
        of_job: impl Fn(usize, usize) -> f64,
        favour: impl Fn(usize, usize) -> f64,
        known: &[f64],
    ) {
        let mut groups = vec![Leaning::default(); known.len()];
        for (cell, jobs) in self.cells.iter().enumerate() {
            let (row, column) = (cell / self.columns, cell % self.columns);
            groups[group(row, column)].add(*jobs, of_job(row, column), favour(row, column));
        }
        let powers: Vec<f64> = groups.iter().zip(known).map(|(group, known)| group.power(*known)).collect();
        for (cell, jobs) in self.cells.iter_mut().enumerate() {
            let (row, column) = (cell / self.columns, cell % self.columns);
            *jobs *= (powers[group(row, column)] * favour(row, column)).exp();
        }
    }

    /// Whole numbers of jobs: each column keeps its sum, if that is one, and row by row no column
    /// is ever a whole job ahead or behind. Where a column's jobs begin to count is drawn, so that
    /// the last rows, in which most cells have less than half a job, are not left out.
    pub(super) fn whole(&self, random: &mut impl Rng) -> Vec<Vec<usize>> {
        let mut sums: Vec<f64> = (0..self.columns).map(|_| random.random_range(1e-3..1.0 - 1e-3)).collect();
        self.rows()
            .map(|row| {
                let of_column = |(sum, jobs): (&mut f64, &f64)| {
                    let before = *sum as usize;
                    *sum += jobs;
                    *sum as usize - before
                };
                sums.iter_mut().zip(row).map(of_column).collect()
            })
            .collect()
    }
}

/// Sums over the jobs of a group, of which follows how its sum answers to favours.
#[derive(Debug, Clone, Copy, Default)]
struct Leaning {
    jobs: f64,
    sum: f64,
    favour: f64,
    favour_of_sum: f64,
}

impl Leaning {
    fn add(&mut self, jobs: f64, of_job: f64, favour: f64) {
        self.jobs += jobs;
        self.sum += jobs * of_job;
        self.favour += jobs * favour;
        self.favour_of_sum += jobs * of_job * favour;
    }

    /// A step of Newton's towards what is known of the sum, kept small.
    fn power(&self, known: f64) -> f64 {
        let answer = self.favour_of_sum / self.sum - self.favour / self.jobs;
        let power = (known / self.sum).ln() / answer.max(0.1);
        if power.is_finite() { power.clamp(-0.5, 0.5) } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::Cells;

    #[test]
    fn known_sums_of_rows_and_columns_are_met() {
        let mut cells = Cells::guessed(2, 2, |row, column| if row == column { 3.0 } else { 1.0 });
        for _ in 0..50 {
            cells.scale(|row, _| row, &[10.0, 30.0]);
            cells.scale(|_, column| column, &[25.0, 15.0]);
        }
        let sums: Vec<f64> = cells.rows().map(|row| row.iter().sum()).collect();
        assert!((sums[0] - 10.0).abs() < 1e-6 && (sums[1] - 30.0).abs() < 1e-6);
        let whole = cells.whole(&mut ChaCha8Rng::seed_from_u64(1));
        assert_eq!(whole[0][0] + whole[1][0], 25);
        assert_eq!(whole[0][1] + whole[1][1], 15);
    }

    #[test]
    fn a_known_sum_over_the_jobs_is_met_by_a_tilt() {
        let mut cells = Cells::guessed(1, 4, |_, _| 1.0);
        for _ in 0..50 {
            let of_job = |_, column| (column + 1) as f64;
            cells.tilt(|_, _| 0, of_job, of_job, &[13.0]);
            cells.scale(|_, _| 0, &[4.0]);
        }
        let row = cells.rows().next().unwrap();
        let sum: f64 = row.iter().zip(1..).map(|(jobs, value)| jobs * f64::from(value)).sum();
        assert!((sum - 13.0).abs() < 1e-3, "{sum}");
    }
}
