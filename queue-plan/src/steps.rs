//! The points of a free profile that a plan hands out.

use job_types::time::UnixTime;

use crate::resources::Resources;

/// The most points of a free profile that is handed out.
pub const MOST_STEPS: usize = 256;

/// At most [`MOST_STEPS`] points: the first half of them as they are, then the least of some in a
/// row.
pub(crate) fn coarsened(steps: &[(UnixTime, Resources)]) -> Vec<(UnixTime, Resources)> {
    if steps.len() <= MOST_STEPS {
        return steps.to_vec();
    }
    let (near, far) = steps.split_at(MOST_STEPS / 2);
    let together = far.len().div_ceil(MOST_STEPS - near.len());
    let far = far.chunks(together).filter_map(|chunk| {
        let least = chunk.iter().map(|(_, free)| *free).reduce(Resources::least)?;
        Some((chunk.first()?.0, least))
    });
    near.iter().copied().chain(far).collect()
}
