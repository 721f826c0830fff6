//! The experiments by method, book-ahead and window, in the mean over the draws.

use std::collections::BTreeSet;

use simulator::experiment::{OverDraws, PlacementExperiment, PlacementMethod};

/// Seconds of an hour.
pub(super) const HOUR_S: i64 = 3_600;

/// The experiments, to be looked up.
pub(super) struct Cells<'e> {
    experiments: &'e [PlacementExperiment],
}

impl<'e> Cells<'e> {
    pub(super) fn of(experiments: &'e [PlacementExperiment]) -> Self {
        Self { experiments }
    }

    /// The methods, in the order in which they were asked for.
    pub(super) fn methods(&self) -> Vec<PlacementMethod> {
        let mut methods = Vec::new();
        for experiment in self.experiments {
            if !methods.contains(&experiment.method) {
                methods.push(experiment.method);
            }
        }
        methods
    }

    /// The book-aheads in seconds, the shortest first.
    pub(super) fn book_aheads(&self) -> Vec<i64> {
        self.experiments.iter().map(|experiment| experiment.book_ahead_s).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// The windows in seconds, the shortest first.
    pub(super) fn windows(&self) -> Vec<i64> {
        self.experiments.iter().map(|experiment| experiment.window_s).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// The longest window in seconds.
    pub(super) fn widest_window(&self) -> i64 {
        self.windows().last().copied().unwrap_or_default()
    }

    fn figures(&self, method: PlacementMethod, book_ahead: i64, window: i64, figure: impl Fn(&PlacementExperiment) -> f64) -> Vec<f64> {
        let is_one = |experiment: &&PlacementExperiment| {
            (experiment.method, experiment.book_ahead_s, experiment.window_s) == (method, book_ahead, window)
        };
        self.experiments.iter().filter(is_one).map(figure).collect()
    }

    /// A figure in the mean over the draws; `None` where there is no such experiment.
    pub(super) fn mean(
        &self,
        method: PlacementMethod,
        book_ahead: i64,
        window: i64,
        figure: impl Fn(&PlacementExperiment) -> f64,
    ) -> Option<f64> {
        let figures = self.figures(method, book_ahead, window, figure);
        (!figures.is_empty()).then(|| figures.iter().sum::<f64>() / figures.len() as f64)
    }

    /// The same with its standard error, as tables show it.
    pub(super) fn with_error(
        &self,
        method: PlacementMethod,
        book_ahead: i64,
        window: i64,
        figure: impl Fn(&PlacementExperiment) -> f64,
    ) -> String {
        let OverDraws { mean, standard_error } = OverDraws::of(&self.figures(method, book_ahead, window, figure));
        shown(mean, standard_error)
    }
}

/// A mean and its standard error, without digits behind the point.
pub(super) fn shown(mean: f64, standard_error: Option<f64>) -> String {
    standard_error.map_or_else(|| format!("{mean:.0}"), |error| format!("{mean:.0} ± {error:.0}"))
}
