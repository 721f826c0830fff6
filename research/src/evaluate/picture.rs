//! The picture of forecasts that were held against logs: a reliability diagram and errors by class
//! of jobs, one row for each log.

use std::path::Path;

use command_parts::plot::{self, ErrorsByClass, Reliability};

/// Draws the picture into a file.
///
/// # Errors
///
/// The file can't be written.
pub(super) fn draw<L>(
    path: &Path,
    logs: &[L],
    reliability: impl Fn(&L) -> Reliability,
    errors: impl Fn(&L) -> ErrorsByClass,
) -> anyhow::Result<()> {
    plot::write_rows(path, 2, logs, |areas, log| {
        if let [left, right, ..] = areas {
            plot::reliability(left, &reliability(log))?;
            plot::errors_by_class(right, &errors(log))?;
        }
        Ok(())
    })
}

/// Returns, for tests, the SVG that is drawn into a file.
#[cfg(test)]
pub(super) fn drawn(draw: impl FnOnce(&Path) -> anyhow::Result<()>) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("picture.svg");
    draw(&path).unwrap();
    std::fs::read_to_string(path).unwrap()
}
