//! The schedule in files for other programs.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use simulator::engine::Record;
use simulator::output::{batsim, write_swf};
use simulator::workload::Workload;

/// Where to write the schedule.
#[derive(Debug, Args)]
pub(super) struct FileArguments {
    /// Also write the schedule as a log in the Standard Workload Format.
    #[arg(long, value_name = "FILE")]
    write_swf: Option<PathBuf>,

    /// Also write jobs.csv and schedule.json, as Batsim does and evalys reads them, into this
    /// folder.
    #[arg(long, value_name = "FOLDER")]
    write_batsim: Option<PathBuf>,
}

impl FileArguments {
    /// Writes what was asked for.
    ///
    /// # Errors
    ///
    /// A file can't be written; it is named.
    pub(super) fn write(&self, log: &Path, workload: &Workload, records: &[Record]) -> anyhow::Result<()> {
        let (jobs, processors) = (&workload.jobs, workload.processors);
        let name = log.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        let name = name.split(".swf").next().unwrap_or_default();
        if let Some(path) = &self.write_swf {
            write(path, |file| Ok(write_swf(file, &workload.header, jobs, records)?))?;
        }
        if let Some(folder) = &self.write_batsim {
            fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
            write(&folder.join("jobs.csv"), |file| Ok(batsim::write_jobs(file, name, jobs, records, processors)?))?;
            let schedule = batsim::Schedule::of(records, processors);
            write(&folder.join("schedule.json"), |file| Ok(serde_json::to_writer_pretty(file, &schedule)?))?;
        }
        Ok(())
    }
}

fn write(path: &Path, contents: impl FnOnce(&mut BufWriter<File>) -> anyhow::Result<()>) -> anyhow::Result<()> {
    let written = || -> anyhow::Result<()> {
        let mut file = BufWriter::new(File::create(path)?);
        contents(&mut file)?;
        Ok(file.flush()?)
    };
    written().with_context(|| format!("cannot write {}", path.display()))
}
