//! A firm slot by its number, about which the daemon is asked something.

use std::process::ExitCode;

use clap::Args;
use command_parts::failure::Failure;
use command_parts::output;
use daemon_api::FirmSlot;
use serde::Serialize;

use crate::api::{self, NotAnswered};
use crate::installation::{Installation, ReportArguments};

/// Says which slot is meant.
#[derive(Debug, Args)]
pub(super) struct SlotArguments {
    /// The number of the slot, as queuecast reservations shows it.
    pub(super) id: u64,

    #[command(flatten)]
    report: ReportArguments,
}

impl SlotArguments {
    /// The installation whose daemon is asked.
    pub(super) fn installation(&self) -> Installation {
        self.report.installation()
    }

    /// Has the daemon do what is asked at a path, and tells how the slot stands then.
    pub(super) fn ask(&self, path: &str, request: &impl Serialize, text: fn(&FirmSlot) -> String) -> Result<ExitCode, Failure> {
        let slot: FirmSlot = api::post(&self.installation().reach(), path, request).map_err(|error| match error {
            NotAnswered::Refused(_) => Failure::No(error.into()),
            error => Failure::Input(error.into()),
        })?;
        output::tell(self.report.format, &slot, text)?.print()?;
        Ok(ExitCode::SUCCESS)
    }
}
