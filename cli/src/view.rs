//! What commands take that show the cluster as it is now: which cluster, from where, once or again
//! and again, and of a list which rows and columns.

use std::process::ExitCode;

use clap::Args;
use command_parts::failure::Failure;
use command_parts::output::{FormatArguments, Written};

use crate::cluster::ClusterArguments;
use crate::columns::{Column, Layout, TableArguments};
use crate::installation::{Installation, ReportArguments};
use crate::live::{self, IterateArguments};
use crate::selection::{JobsArguments, Selection, SelectionArguments};

/// Says of which cluster a view is, and whether it is told once or again and again.
#[derive(Debug, Args)]
pub(crate) struct ViewArguments {
    #[command(flatten)]
    iterate: IterateArguments,

    #[command(flatten)]
    pub(crate) cluster: ClusterArguments,

    #[command(flatten)]
    report: ReportArguments,
}

impl ViewArguments {
    /// Writes what `report` tells, once or again and again, and gives its exit status.
    ///
    /// # Errors
    /// Those of `report`, and standard output that can't be written.
    pub(crate) fn show(&self, report: impl Fn() -> Result<(Written, ExitCode), Failure>) -> Result<ExitCode, Failure> {
        live::show(self.iterate, self.report.format, report)
    }

    /// How a report is written.
    pub(crate) fn format(&self) -> FormatArguments {
        self.report.format
    }

    /// The installation on this host, whichever cluster it is of.
    pub(crate) fn installation_here(&self) -> Installation {
        self.report.installation()
    }

    /// The installation of the cluster that is meant.
    ///
    /// # Errors
    /// A cluster of which nothing is known here.
    pub(crate) fn installation(&self) -> Result<Installation, Failure> {
        self.cluster.installation(self.report.installation())
    }
}

/// Says which jobs a list shows, and how.
#[derive(Debug, Args)]
pub(crate) struct ListArguments {
    #[command(flatten)]
    selection: SelectionArguments,

    #[command(flatten)]
    jobs: JobsArguments,

    #[command(flatten)]
    table: TableArguments,

    #[command(flatten)]
    pub(crate) view: ViewArguments,
}

impl ListArguments {
    /// The jobs that are meant.
    ///
    /// # Errors
    /// A user whom this machine does not know.
    pub(crate) fn selection(&self) -> Result<Selection, Failure> {
        self.selection.selection(&self.jobs)
    }

    /// The table and the order that are asked for, of these columns, where `default` names those
    /// without a wish.
    ///
    /// # Errors
    /// What is no column, with those that there are.
    pub(crate) fn layout<R>(&self, all: &'static [Column<R>], default: &str) -> Result<Layout<R>, Failure> {
        self.table.layout(all, default).map_err(Failure::Input)
    }

    /// The list as it is written: without a header nothing stands above it.
    pub(crate) fn written(&self, list: Written) -> Written {
        list.bare(self.table.noheader)
    }
}
