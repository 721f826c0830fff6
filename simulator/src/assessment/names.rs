//! What queues and partitions are called.

use std::collections::BTreeMap;

use crate::swf::Header;

/// The names that a log's header gives to the numbers of queues and partitions.
pub(super) struct QueueNames {
    queues: BTreeMap<u64, String>,
    partitions: BTreeMap<u64, String>,
}

/// Collects the names of the queues and partitions of a header.
impl From<&Header> for QueueNames {
    fn from(header: &Header) -> Self {
        let (mut queues, mut partitions) = (header.queues(), header.partitions());
        [&mut queues, &mut partitions].into_iter().for_each(|names| names.retain(|_, name| !name.is_empty()));
        Self { queues, partitions }
    }
}

impl QueueNames {
    /// What people call the queue that an evaluation calls by `label`: the number of the queue and,
    /// behind a slash, that of the partition, with `-` for what is not known.
    pub(super) fn name(&self, label: &str) -> String {
        let (queue, partition) = label.split_once('/').map_or((label, None), |(queue, partition)| (queue, Some(partition)));
        let named = |names: &BTreeMap<u64, String>, number: &str| names.get(&number.parse().ok()?).cloned();
        let queue_name = named(&self.queues, queue).or_else(|| (queue != "-").then(|| format!("queue {queue}")));
        let partition_name = partition
            .filter(|number| *number != "-")
            .map(|number| named(&self.partitions, number).unwrap_or_else(|| format!("partition {number}")));
        match (queue_name, partition_name) {
            (Some(queue), Some(partition)) if queue != partition => format!("{partition}, {queue}"),
            (Some(name), _) | (None, Some(name)) => name,
            (None, None) => "not named".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_header_stand_in_the_place_of_numbers() {
        let mut header = Header::new();
        header.push("Queue", "1 express");
        header.push("Partition", "2 batch");
        let names = QueueNames::from(&header);
        let called = ["1", "7", "1/2", "7/2", "-/2", "-/9", "-"].map(|label| names.name(label));
        assert_eq!(called, ["express", "queue 7", "batch, express", "batch, queue 7", "batch", "partition 9", "not named"]);
    }
}
