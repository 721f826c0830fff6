//! Jobs as users name them.

use std::fmt;
use std::str::FromStr;

use job_types::number::JobId;

/// A job as users name it: by its number, or as a task of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct JobName {
    pub(crate) id: JobId,
    pub(crate) task: Option<u32>,
}

impl JobName {
    /// Whether a job is meant that has this number, in an array with that one.
    pub(crate) fn means(self, id: JobId, array: Option<JobId>) -> bool {
        self.id == id || array == Some(self.id)
    }
}

impl FromStr for JobName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (id, task) = match text.split_once('_') {
            Some((id, task)) => (id, Some(task)),
            None => (text, None),
        };
        let wrong = || "use a job's number, as 1234, or that of an array's task, as 1234_5".to_owned();
        let id = id.parse().ok().filter(|id| *id > 0).map(JobId).ok_or_else(wrong)?;
        let task = task.map(str::parse).transpose().map_err(|_| wrong())?;
        Ok(Self { id, task })
    }
}

impl fmt::Display for JobName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.task {
            Some(task) => write!(f, "{}_{task}", self.id),
            None => write!(f, "{}", self.id),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_are_named_by_number_or_by_array_and_task() {
        let read = |text: &str| text.parse::<JobName>().map(|name| (name.id.0, name.task));
        assert_eq!((read("12"), read("12_0")), (Ok((12, None)), Ok((12, Some(0)))));
        for wrong in ["0", "", "a", "12_", "_1", "12_a", "-1", "12+0"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_arrays_number_means_its_tasks() {
        let name = JobName { id: JobId(12), task: None };
        assert!(name.means(JobId(12), None) && name.means(JobId(15), Some(JobId(12))) && !name.means(JobId(15), None));
    }
}
