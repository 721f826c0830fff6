//! One line of sacct's output as a run of a job.

use jiff::tz::TimeZone;
use job_types::time::{Seconds, UnixTime};
use slurm_conf::printed;

use super::ReadError;
use super::columns::{Column, Columns, OF_NODES};
use super::value::{self, JobNumber, Memory, Said, State};
use crate::accounting::{AccountedRun, Limit};
use crate::swf::Status;

/// What a line is.
#[derive(Debug)]
pub(super) enum Row<'a> {
    /// A run of a job.
    Run(Box<AccountedRun<'a>>),
    /// A step of a job.
    Step,
    /// A job that went to another cluster of the federation.
    Elsewhere,
}

/// A line whose columns are known.
pub(super) struct Fields<'a> {
    pub(super) columns: &'a Columns,
    pub(super) line: &'a [u8],
    /// The begin and end of each column of the line.
    pub(super) ends: &'a [(usize, usize)],
    pub(super) number: u64,
    pub(super) zone: &'a TimeZone,
    /// The columns whose values have no meaning.
    pub(super) undefined: Vec<Column>,
}

impl<'a> Fields<'a> {
    fn text(&self, column: Column) -> Option<&'a str> {
        self.columns.text(column, self.line, self.ends)
    }

    fn error(&self, column: Column, expected: &'static str) -> ReadError {
        let text = self.text(column).unwrap_or_default().chars().take(40).collect();
        ReadError::Value { line: self.number, column: column.name(), text, expected }
    }

    /// What a column says; `None` where it is not there, says nothing, or has no meaning.
    fn value<T>(&mut self, column: Column, read: impl FnOnce(&'a str) -> Option<Said<T>>) -> Option<T> {
        match self.text(column).map(|text| read(text).unwrap_or(Said::Undefined))? {
            Said::Known(value) => Some(value),
            Said::Nothing => None,
            Said::Undefined => {
                // Several values may be read from one column.
                if !self.undefined.contains(&column) {
                    self.undefined.push(column);
                }
                None
            }
        }
    }

    /// What the first of some columns says that says anything.
    fn first<T>(&mut self, columns: &[Column], read: impl Fn(&'a str) -> Option<Said<T>>) -> Option<T> {
        columns.iter().find_map(|column| self.value(*column, &read))
    }

    fn moment(&mut self, column: Column) -> Result<Option<UnixTime>, ReadError> {
        let Some(text) = self.text(column) else { return Ok(None) };
        let read = printed::read(text, self.zone).map_err(|_| self.error(column, printed::ACCEPTED_FORMS))?;
        Ok(read.map(UnixTime))
    }

    /// The first of some columns that says a name.
    fn name(&self, columns: &[Column]) -> &'a str {
        columns.iter().filter_map(|column| self.text(*column)).find(|name| !name.is_empty()).unwrap_or_default()
    }

    fn job(&self) -> Result<JobNumber, ReadError> {
        let number = self.columns.job(self.line, self.ends).and_then(value::job_number);
        number.ok_or_else(|| self.error(self.columns.of_job(), "the number of a job, as in 1234, 1234_7 or 1234+1"))
    }

    /// The quality of service; sacct calls one that slurmdbd has no more `Unknown`
    /// (src/sacct/print.c, `_find_qos_name_from_list`).
    fn qos(&self) -> &'a str {
        Some(self.name(&[Column::Qos, Column::QosRaw])).filter(|qos| *qos != "Unknown").unwrap_or_default()
    }

    fn limit(&mut self) -> Limit {
        let limit = self.value(Column::TimeLimit, value::limit).or_else(|| self.value(Column::TimeLimitRaw, value::raw_limit));
        limit.unwrap_or_default()
    }

    /// The nodes that a job asked for, or had where that is not known. One of which the columns
    /// could say it and don't counts as one of a single node, as in the daemon.
    fn requested_nodes(&self, requested: Option<u64>, had: Option<u64>) -> Option<u32> {
        let known = |nodes: &u64| *nodes > 0;
        let is_said = OF_NODES.iter().any(|column| self.columns.has(*column));
        is_said.then(|| requested.filter(known).or(had.filter(known)).map_or(1, clamped))
    }

    fn kilobytes_per_cpu(&mut self, cpus: Option<u64>) -> Option<f64> {
        match (self.value(Column::ReqMem, value::memory), cpus.filter(|cpus| *cpus > 0)) {
            (Some(Memory::PerCpu(kilobytes)), _) => Some(kilobytes),
            (Some(Memory::Whole(kilobytes)), Some(cpus)) => Some((kilobytes / cpus as f64).round()),
            _ => None,
        }
    }

    /// What the line is. A value that can't be read counts as one without meaning, unless the line
    /// says nothing without it.
    ///
    /// # Errors
    ///
    /// [`ReadError::Value`] for a job's number or a moment that can't be read.
    pub(super) fn row(&mut self) -> Result<Row<'a>, ReadError> {
        let job = self.job()?;
        if job.is_step {
            return Ok(Row::Step);
        }
        let state = self.value(Column::State, |text| Some(value::state(text)));
        if state == Some(State::Elsewhere) {
            return Ok(Row::Elsewhere);
        }
        let requested_cpus = self.value(Column::ReqTres, value::cpus).or_else(|| self.value(Column::ReqCpus, value::count));
        let allocated_tres = self.value(Column::AllocTres, value::cpus);
        let allocated_cpus = allocated_tres.or_else(|| self.first(&[Column::AllocCpus, Column::NCpus], value::count));
        let requested_nodes = self.value(Column::ReqTres, value::nodes).or_else(|| self.value(Column::ReqNodes, value::count));
        let counted_nodes = self.value(Column::AllocNodes, value::count);
        let allocated_nodes = self.value(Column::AllocTres, value::nodes).or(counted_nodes);
        // In the row of a job that had no nodes, this column holds the nodes that it asked for.
        let nodes = allocated_nodes.filter(|nodes| *nodes > 0).or_else(|| self.value(Column::NNodes, value::count));
        let started = self.moment(Column::Start)?;
        let ended = self.moment(Column::End)?.filter(|_| state != Some(State::NotEnded));
        // Some releases (22.05) give a job that was cancelled while it waited that moment as its
        // start too, and the CPUs that it asked for as those that it had.
        let had_nothing = (self.columns.has(Column::AllocTres) && allocated_tres.is_none()) || counted_nodes == Some(0);
        let says_what_it_had = self.columns.has(Column::AllocTres) || self.columns.has(Column::AllocNodes);
        let is_cancelled = state == Some(State::Ended(Status::Cancelled));
        let started = started.filter(|started| Some(*started) != ended || !(had_nothing || is_cancelled && !says_what_it_had));
        let elapsed = self.value(Column::ElapsedRaw, value::raw_seconds).or_else(|| self.value(Column::Elapsed, value::seconds));
        let suspended = self.value(Column::Suspended, value::seconds).map_or(Seconds::ZERO, duration);
        Ok(Row::Run(Box::new(AccountedRun {
            id: job.id,
            submitted: self.moment(Column::Submit)?,
            eligible: match self.moment(Column::Eligible)? {
                // If the column is missing, the submission is all that is known.
                None if !self.columns.has(Column::Eligible) => self.moment(Column::Submit)?,
                eligible => eligible,
            },
            started,
            ended,
            run_time: elapsed.map(duration),
            suspended,
            allocated_cpus: started.and(allocated_cpus),
            requested_cpus,
            requested_nodes: self.requested_nodes(requested_nodes, nodes),
            allocated_nodes: started.and(nodes).map(clamped),
            requested_kilobytes_per_cpu: self.kilobytes_per_cpu(requested_cpus.or(allocated_cpus)),
            limit: self.limit(),
            ending: match state {
                Some(State::Ended(status)) => Some(status),
                Some(State::Requeued) => Some(Status::Failed),
                _ => None,
            },
            is_requeued: state == Some(State::Requeued),
            user: self.name(&[Column::User, Column::Uid]),
            account: self.name(&[Column::Account, Column::Group, Column::Gid]),
            partition: self.name(&[Column::Partition]),
            qos: self.qos(),
            name: self.name(&[Column::JobName]),
        })))
    }
}

fn clamped(nodes: u64) -> u32 {
    u32::try_from(nodes).unwrap_or(u32::MAX)
}

fn duration(seconds: u64) -> Seconds {
    Seconds(i64::try_from(seconds).unwrap_or(i64::MAX))
}
