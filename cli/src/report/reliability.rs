//! The picture of a report: the probability that was promised against the part that was kept, a
//! line for each partition and one for all.

use std::path::PathBuf;

use clap::Args;
use command_parts::plot::{self, DIAGRAM, Reliability, Series};

use super::kept::KeptPromises;

/// Says where the picture goes.
#[derive(Debug, Args)]
pub(super) struct PictureArguments {
    /// Also draw the part that was kept over the probability that was promised into this file,
    /// which has to end in .svg or .png.
    #[arg(long, value_name = "FILE", value_parser = plot::file)]
    plot: Option<PathBuf>,
}

/// What stands in the picture beside its lines.
#[derive(Debug)]
pub(super) struct Caption {
    pub(super) title: String,
    /// What the part is of that was kept.
    pub(super) observed: &'static str,
    /// What is said where there is nothing to draw.
    pub(super) nothing: &'static str,
}

impl PictureArguments {
    /// Checks, before long work, that there is a folder for the picture.
    ///
    /// # Errors
    ///
    /// The folder is not there.
    pub(super) fn check_folder(&self) -> anyhow::Result<()> {
        plot::check_folder(self.plot.as_deref())
    }

    /// Draws the picture where one is asked for. Rows of one partition follow each other.
    ///
    /// # Errors
    ///
    /// There are no rows, or the file can't be written.
    pub(super) fn draw<'a>(&self, caption: Caption, rows: impl Iterator<Item = &'a KeptPromises>) -> anyhow::Result<()> {
        let Some(path) = &self.plot else { return Ok(()) };
        let mut series: Vec<Series<[f64; 2]>> = Vec::new();
        for row in rows {
            let name = row.partition.as_deref().unwrap_or("all partitions");
            let point = [row.promised, row.kept_part];
            match series.last_mut() {
                Some(last) if last.name == name => last.points.push(point),
                _ => series.push(Series { name: name.to_owned(), points: vec![point], is_ours: row.partition.is_none() }),
            }
        }
        anyhow::ensure!(!series.is_empty(), "--plot: {}, so there is nothing to draw", caption.nothing);
        let diagram = Reliability { title: caption.title, observed: caption.observed, series };
        plot::write(path, DIAGRAM, |area| plot::reliability(area, &diagram))
    }
}
