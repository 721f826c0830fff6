//! The sizes that molding tries, and what the submission asks for at another size.

use super::super::DerivedInputs;
use super::super::submission::Submission;
use crate::forecasts::forecast::Forecaster;
use job_types::size::{Size, Unit};

/// Most sizes that are compared for one job; of more, those nearest to the size as written.
const MOST_CANDIDATES: usize = 64;

/// Sizes to try besides the one as written: the user's own past sizes and those of `--mold-sizes`,
/// within what the submission allows.
pub(super) fn candidate_counts<F>(context: &DerivedInputs<'_, F>, original: u32) -> Vec<u32>
where
    F: Forecaster,
{
    let submission = context.submission;
    let named = submission.asked.mold_sizes.as_ref();
    let past = context.forecasts.past_sizes(submission.user, context.partition.index, submission.unit());
    let listed = named.into_iter().flat_map(|sizes| sizes.candidates().iter().copied());
    // A range has too many sizes to try each: the powers of two in it are tried.
    let powers = (0..32u32).map(|power| 1u32 << power).filter(|_| named.is_some());
    allowed_counts(context, original, past.chain(listed).chain(powers))
}

/// The sizes among `counts` that the submission and the partition allow, without repetition: at
/// most [`MOST_CANDIDATES`], the nearest in proportion first.
pub(super) fn allowed_counts<F>(context: &DerivedInputs<'_, F>, original: u32, counts: impl Iterator<Item = u32>) -> Vec<u32> {
    let submission = context.submission;
    let named = submission.asked.mold_sizes.as_ref();
    let most = match submission.unit() {
        Unit::Nodes => context.partition.nodes,
        Unit::Cpus => context.partition.cpus,
    };
    let allowed = |count: &u32| {
        *count != original
            && (1..=most).contains(count)
            && named.is_none_or(|sizes| sizes.contains(*count))
            && submission.nodes.is_none_or(|nodes| nodes.least == nodes.most || (nodes.least..=nodes.most).contains(count))
    };
    let mut counts: Vec<u32> = counts.filter(allowed).collect();
    // Nearest in proportion first: of two, the one whose larger count is the smaller multiple of
    // its smaller one.
    let proportion = |count: u32| (u64::from(count.max(original)), u64::from(count.min(original).max(1)));
    counts.sort_by(|one, other| {
        let ((larger, smaller), (other_larger, other_smaller)) = (proportion(*one), proportion(*other));
        (larger * other_smaller).cmp(&(other_larger * smaller)).then(one.cmp(other))
    });
    counts.dedup();
    counts.truncate(MOST_CANDIDATES);
    counts
}

/// The submission's size and tasks at another count; `None` where its tasks do not divide.
pub(super) fn resize(submission: &Submission<'_>, original: Size, unit: Unit, count: u32) -> Option<(Size, Option<u32>)> {
    let original_count = original.count(unit);
    let scaled = |number: u32| {
        let product = u64::from(number) * u64::from(count);
        let whole = product.is_multiple_of(u64::from(original_count.max(1)));
        whole.then(|| u32::try_from(product / u64::from(original_count.max(1))).ok()).flatten().filter(|number| *number > 0)
    };
    let tasks = match submission.tasks {
        Some(tasks) => Some(scaled(tasks)?),
        None => None,
    };
    let cpus = scaled(original.cpus).unwrap_or_else(|| {
        let exact = f64::from(original.cpus) * f64::from(count) / f64::from(original_count.max(1));
        exact.ceil().max(1.0) as u32
    });
    Some(match unit {
        Unit::Nodes => (Size { nodes: count, cpus: cpus.max(count) }, tasks),
        Unit::Cpus => {
            let nodes = u64::from(original.nodes) * u64::from(count);
            let nodes = u32::try_from(nodes.div_ceil(u64::from(original_count.max(1)))).unwrap_or(u32::MAX).max(1);
            (Size { nodes, cpus }, tasks)
        }
    })
}
