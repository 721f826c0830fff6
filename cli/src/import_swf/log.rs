//! Where the jobs come from: a file, standard input, or the model.

use std::fs::File;
use std::io::{self, BufRead, BufWriter, Write};
use std::num::NonZeroU64;
use std::path::Path;

use anyhow::Context;
use clap::{Args, ValueEnum};
use simulator::lublin::{self, Mix};
use simulator::swf::{self, Header, Reader, Record};

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
    /// From a file or standard input.
    Stream {
        /// The file's name without its endings.
        name: String,
        /// The file as the user called it.
        source: String,
        reader: Reader<Box<dyn BufRead>>,
    },
    /// A log that the Lublin-Feitelson model makes.
    Made { name: String, log: swf::Log },
}

/// Opens the file, or makes a workload where there is none.
pub(super) fn open(file: Option<&Path>, processors: Option<NonZeroU64>, model: &ModelArguments) -> anyhow::Result<Log> {
    let Some(path) = file else {
        let options = lublin::Options {
            jobs: model.model_jobs.get(),
            processors: processors.map_or(MODEL_PROCESSORS, NonZeroU64::get),
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
    let source = path.display().to_string();
    let reader = if path == Path::new("-") {
        Reader::detecting_compression(io::stdin())
    } else {
        let file = File::open(path).with_context(|| format!("cannot open the log {source}"))?;
        Reader::detecting_compression(file)
    };
    let reader = reader.with_context(|| source.clone())?;
    Ok(Log::Stream { name: log_name(path), source, reader })
}

/// The file's name without folder and endings, of characters that need no quoting anywhere.
fn log_name(path: &Path) -> String {
    let file_name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut name = file_name.as_str();
    for ending in [".gz", ".xz", ".zst", ".swf", ".txt"] {
        name = name.strip_suffix(ending).unwrap_or(name);
    }
    match name {
        "" | "-" => "standard-input".into(),
        name => name.replace(|character: char| !character.is_ascii_alphanumeric() && !"._-".contains(character), "_"),
    }
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
            Self::Stream { reader, .. } => reader.header(),
            Self::Made { log, .. } => &log.header,
        }
    }

    /// The log's records, in its order.
    pub(super) fn records(self) -> Box<dyn Iterator<Item = anyhow::Result<Record>>> {
        match self {
            Self::Stream { source, reader, .. } => Box::new(reader.map(move |record| record.with_context(|| source.clone()))),
            Self::Made { log, .. } => Box::new(log.records.into_iter().map(Ok)),
        }
    }

    /// Writes the log as it is.
    pub(super) fn write(self, output: impl Write) -> anyhow::Result<()> {
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
            ("-", "standard-input"),
        ] {
            assert_eq!(log_name(Path::new(path)), name);
        }
    }
}
