//! The classes of QBETS as records.

use predictor_core::forecasts::forecast::ClassBounds;
use predictor_core::snapshot::layout::{WaitClassRecord, WaitRegionRecord};
use std::collections::BTreeMap;

/// The records of the classes and of the regions that lead to them, both by partition.
#[derive(Debug, Default)]
pub(super) struct WaitClassRecords {
    pub(super) classes: Vec<WaitClassRecord>,
    pub(super) regions: Vec<WaitRegionRecord>,
}

/// The records of classes, which may be in any order; a class is given once for each of its
/// regions.
impl From<&[ClassBounds]> for WaitClassRecords {
    fn from(told: &[ClassBounds]) -> Self {
        let mut told: Vec<&ClassBounds> = told.iter().collect();
        told.sort_by_key(|class| (class.partition, *class.cpus.start(), *class.limit_s.start()));
        let (mut records, mut places) = (WaitClassRecords::default(), BTreeMap::new());
        for class in told {
            let place = *places.entry((class.partition, class.class)).or_insert_with(|| {
                records.classes.push(WaitClassRecord {
                    partition: class.partition.0.into(),
                    reserved: [0; 2],
                    changes: class.changes.into(),
                    jobs: u32::try_from(class.jobs).unwrap_or(u32::MAX).into(),
                    median_s: class.median_s.into(),
                    bounds_s: class.bounds_s.map(Into::into),
                });
                records.classes.len() as u32 - 1
            });
            records.regions.push(WaitRegionRecord {
                partition: class.partition.0.into(),
                reserved: [0; 2],
                class: place.into(),
                first_cpus: (*class.cpus.start()).into(),
                last_cpus: (*class.cpus.end()).into(),
                first_limit_s: (*class.limit_s.start()).into(),
                last_limit_s: (*class.limit_s.end()).into(),
            });
        }
        records
    }
}
