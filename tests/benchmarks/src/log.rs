//! A workload of the Lublin-Feitelson model, for the small forms of benchmarks that replay logs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};
use end_to_end::built;

use crate::swf::{self, Job};

/// How many jobs the log has, and the first that is evaluated, counted from 1.
const JOBS: usize = 1_200;
pub(crate) const FROM: usize = 601;

/// How many jobs are evaluated.
pub(crate) const EVALUATED: u64 = (JOBS - FROM + 1) as u64;

/// The log, which is the same each time.
#[derive(Debug)]
pub(crate) struct ModelLog {
    pub(crate) path: PathBuf,
    /// The jobs that are evaluated.
    pub(crate) evaluated: Vec<Job>,
}

impl ModelLog {
    /// Writes it into a directory.
    ///
    /// # Errors
    ///
    /// Where `queuecast import-swf` fails or makes another log.
    pub(crate) fn write(directory: &Path) -> anyhow::Result<ModelLog> {
        let path = directory.join("model.swf");
        let mut command = Command::new(built().join("queuecast"));
        command.args(["import-swf", "--embedded", "--processors", "128", "--model-users", "20", "--into", "swf"]);
        let made = command.args(["--model-jobs", &JOBS.to_string()]).output().context("queuecast import-swf")?;
        ensure!(made.status.success(), "queuecast import-swf: {}", String::from_utf8_lossy(&made.stderr));
        fs::write(&path, &made.stdout)?;
        let jobs: Option<Vec<Job>> = swf::records(&String::from_utf8(made.stdout)?).map(swf::job).collect();
        let jobs = jobs.filter(|jobs| jobs.len() == JOBS).context("the workload of the model is not as long as was asked for")?;
        Ok(ModelLog { path, evaluated: jobs[FROM - 1..].to_vec() })
    }
}

/// Fails where a figure is not what follows from the log.
pub(crate) fn expect_figure(what: &str, found: f64, wanted: f64) -> anyhow::Result<()> {
    ensure!((found - wanted).abs() <= 1e-6 * wanted.abs(), "{what}: {found} where {wanted} was expected");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_may_be_off_by_what_rounding_takes_away_and_no_more() {
        assert!(expect_figure("the mean", 10.0, 10.000_001).is_ok());
        assert!(expect_figure("the mean", 10.0, 10.001).is_err());
        assert!(expect_figure("the mean", f64::NAN, 10.0).is_err());
    }
}
