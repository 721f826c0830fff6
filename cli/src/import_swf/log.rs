//! The origin of the jobs: a file, standard input, or the model.

use std::io::{self, BufWriter, Write};
use std::num::NonZeroU64;
use std::path::Path;

use anyhow::Context;
use clap::{Args, ValueEnum};
use command_parts::log_file::{self, LogFile, LogFileOptions};
use simulator::lublin::{self, Mix};
use simulator::remarks::Remarks;
use simulator::swf::{self, Header, Record};

/// Options of the workload model.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options for --embedded")]
pub(super) struct ModelArguments {
    /// How many jobs to make.
    #[arg(long, value_name = "N", default_value = "20000", conflicts_with = "file")]
    model_jobs: NonZeroU64,

    /// Of how many users.
    #[arg(long, value_name = "N", default_value = "64", conflicts_with = "file")]
    model_users: NonZeroU64,

    /// The share of the machine that they ask for; from about 0.9 on the queue grows without end.
    #[arg(long, value_name = "F", default_value = "0.75", conflicts_with = "file")]
    load: f64,

    /// Which of the model's published parameter sets to use.
    #[arg(long, value_enum, default_value = "batch-and-interactive", conflicts_with = "file")]
    mix: MixArgument,

    /// Where the random numbers begin: the same options and seed make the same jobs.
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "file")]
    seed: u64,
}

/// A parameter set of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum MixArgument {
    /// Few long batch jobs and many short interactive ones.
    BatchAndInteractive,
    /// One set of parameters for all jobs.
    Typeless,
}

/// Processors of the machine where neither the log nor the user says.
const MODEL_PROCESSORS: u64 = 128;

/// A log that is ready to be read.
pub(super) enum Log {
    /// A log from a file or standard input.
    Stream {
        /// The file's name without its endings.
        name: String,
        file: Box<LogFile>,
    },
    /// A log that the Lublin-Feitelson model makes.
    Made { name: String, log: swf::Log },
}

/// Opens the file, or makes a workload where there is none.
pub(super) fn open(file: Option<&Path>, log_file: &LogFileOptions, model: &ModelArguments) -> anyhow::Result<Log> {
    let Some(path) = file else {
        let options = lublin::Options {
            jobs: model.model_jobs.get(),
            processors: log_file.processors.map_or(MODEL_PROCESSORS, |processors| u64::from(processors.get())),
            users: model.model_users.get(),
            load: Some(model.load),
            mix: match model.mix {
                MixArgument::BatchAndInteractive => Mix::BatchAndInteractive,
                MixArgument::Typeless => Mix::Typeless,
            },
            seed: model.seed,
        };
        let name = format!("embedded-{}-jobs-{}-processors-seed-{}", options.jobs, options.processors, options.seed);
        let log = lublin::workload(&options).context("--embedded")?;
        return Ok(Log::Made { name, log });
    };
    Ok(Log::Stream { name: log_name(path), file: Box::new(LogFile::open(path, log_file)?) })
}

/// The log's name, of characters that need no quoting anywhere.
fn log_name(path: &Path) -> String {
    log_file::name(path).replace(|character: char| !character.is_ascii_alphanumeric() && !"._-".contains(character), "_")
}

impl Log {
    /// What the log is called in records and messages.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Stream { name, .. } | Self::Made { name, .. } => name,
        }
    }

    /// What the log says of its machine.
    pub(super) fn header(&self) -> &Header {
        match self {
            Self::Stream { file, .. } => file.header(),
            Self::Made { log, .. } => &log.header,
        }
    }

    /// The log's records that were not read yet, in its order.
    pub(super) fn records(&mut self) -> Box<dyn Iterator<Item = anyhow::Result<Record>> + '_> {
        match self {
            Self::Stream { file, .. } => Box::new(file),
            Self::Made { log, .. } => Box::new(std::mem::take(&mut log.records).into_iter().map(Ok)),
        }
    }

    /// What was left out of the records that were read, or taken as not known.
    pub(super) fn remarks(&self) -> Remarks {
        match self {
            Self::Stream { file, .. } => file.remarks(),
            Self::Made { .. } => Remarks::default(),
        }
    }

    /// Writes the log as it is.
    pub(super) fn write(&mut self, output: impl Write) -> anyhow::Result<()> {
        let header = self.header().clone();
        let records = self.records().collect::<anyhow::Result<Vec<_>>>()?;
        match swf::write(BufWriter::new(output), &header, &records) {
            // The reader has seen enough, as `head` does.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            other => other.context("cannot write the log"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::log_name;

    #[test]
    fn a_log_is_called_by_its_file_without_endings() {
        for (path, name) in [
            ("/logs/SDSC-SP2-1998-4.2-cln.swf.gz", "SDSC-SP2-1998-4.2-cln"),
            ("my log (1).swf", "my_log__1_"),
            ("log.txt.zst", "log"),
            ("-", "standard_input"),
        ] {
            assert_eq!(log_name(Path::new(path)), name);
        }
    }
}
