//! The members of the blend: the forecasts of waits that it weighs.

use crate::forecasts::past::{FEATURES, GroupKind, LONGEST_SINCE, recent_features};
use crate::forecasts::trees::{ForestView, MOST_FEATURES};

// What trees do not look at they could not learn from.
const _: () = assert!(FEATURES <= MOST_FEATURES);

/// A forecast of its own, among those that are weighed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[repr(usize)]
#[strum(serialize_all = "snake_case")]
pub enum Member {
    /// No wait at all.
    Zero = 0,
    /// Trees trained on the square root of the wait.
    RootTrees = 1,
    /// Trees trained on the logarithm of the wait.
    LogTrees = 2,
    /// The recent waits of the nearest group that has any: same user, CPUs and limit; or same user
    /// and partition; or same class.
    Like = 3,
}

/// How many members there are.
pub const MEMBERS: usize = 4;

impl Member {
    /// All of them, in order.
    pub const ALL: [Member; MEMBERS] = [Member::Zero, Member::RootTrees, Member::LogTrees, Member::Like];

    /// The member's name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// The members' forecasts for a job's features, as square roots of seconds. `forests` are those of
/// the root and of the logarithm, `None` until they are trained.
#[must_use]
pub fn member_forecasts(features: &[f32], forests: Option<[ForestView<'_>; 2]>) -> [f32; MEMBERS] {
    members_of(features, forests.map(|forests| forests.map(|forest| forest.predict(features))))
}

/// Returns what [`member_forecasts`] does, from what the two forests forecast for the features.
#[must_use]
pub fn members_of(features: &[f32], forecast: Option<[f64; 2]>) -> [f32; MEMBERS] {
    let like = like(features);
    let [root, log] = match forecast {
        Some([root, log]) => [root.max(0.0) as f32, log.max(0.0).exp_m1().max(0.0).sqrt() as f32],
        None => [like; 2],
    };
    // No forest that was trained gives such a value, but a damaged record may.
    let sane = |forecast: f32| if forecast.is_finite() { forecast.min(LONGEST) } else { 0.0 };
    [0.0, sane(root), sane(log), sane(like)]
}

/// The root of ten years.
const LONGEST: f32 = 17_760.0;

fn like(features: &[f32]) -> f32 {
    let groups = [GroupKind::UserRequest, GroupKind::UserPartition, GroupKind::Class, GroupKind::Partition];
    let known = groups.into_iter().map(|kind| recent_features(kind, features));
    known.flatten().find(|recent| recent.since_start < LONGEST_SINCE).map_or(0.0, |recent| recent.fast)
}
