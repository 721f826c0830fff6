//! The jobs of one queue of a log.

use anyhow::{Context, bail};
use serde::Serialize;
use simulator::swf::Header;
use simulator::workload::Workload;

/// A queue of a log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Queue {
    pub(super) number: u32,
    /// What the log's header calls it; empty where it does not say.
    pub(super) name: String,
}

impl Queue {
    /// The queue of that number, or of that name in the log's header, without regard to case.
    ///
    /// # Errors
    ///
    /// The log knows no such queue; those that it knows are named.
    fn find(asked: &str, header: &Header) -> anyhow::Result<Self> {
        // Behind the name some logs say which machines and limits the queue has.
        let queues = header.queues();
        let named = || queues.iter().filter_map(|(number, text)| Some((u32::try_from(*number).ok()?, text.split_whitespace().next()?)));
        let is_asked = |(number, name): &(u32, &str)| name.eq_ignore_ascii_case(asked) || number.to_string() == asked;
        let found = named().find(is_asked).map(|(number, name)| Self { number, name: name.to_owned() });
        let known = || {
            let names: Vec<String> = named().map(|(number, name)| format!("{name} ({number})")).collect();
            if names.is_empty() { "its header names none; give a number".to_owned() } else { format!("it has {}", names.join(", ")) }
        };
        let by_number = || asked.parse().ok().map(|number| Self { number, name: String::new() });
        found.or_else(by_number).with_context(|| format!("the log has no queue {asked}; {}", known()))
    }

    /// Leaves only the jobs of the queue that is asked for.
    ///
    /// # Errors
    ///
    /// There is no such queue, or none of its jobs ran.
    pub(super) fn keep(asked: &str, workload: &mut Workload) -> anyhow::Result<Self> {
        let queue = Self::find(asked, &workload.header)?;
        workload.jobs.retain(|job| job.queue == queue.number);
        if workload.jobs.is_empty() {
            bail!("no job of the queue {asked} ran");
        }
        Ok(queue)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_is_found_by_its_name_or_its_number() {
        let mut header = Header::new();
        header.push("Queue", " 3  normal           (p655 / 18hr / 164nodes)");
        header.push("Queue", " 6  normal32         (p690 / 18hr /   7nodes)");
        let find = |asked| Queue::find(asked, &header);
        let normal = Queue { number: 3, name: "normal".to_owned() };
        assert_eq!((find("normal").unwrap(), find("NORMAL").unwrap(), find("3").unwrap()), (normal.clone(), normal.clone(), normal));
        assert_eq!(find("9").unwrap(), Queue { number: 9, name: String::new() });
        let error = find("long").unwrap_err().to_string();
        assert!(error.contains("normal (3), normal32 (6)"), "{error}");
        assert!(Queue::find("long", &Header::new()).unwrap_err().to_string().contains("give a number"));
    }
}
