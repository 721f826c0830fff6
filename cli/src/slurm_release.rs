//! Whose sbatch a command line is read for.

use clap::Args;
use rules_compiler::command_line::Release;
use slurm_sys::version::Version;

/// The release of Slurm whose sbatch a command line is read for.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct SlurmReleaseArguments {
    /// Read commands as the sbatch of that release of Slurm reads them, such as 24.11 [default: the
    /// one that queuecast was built for].
    #[arg(long, value_name = "RELEASE")]
    slurm: Option<Release>,
}

impl SlurmReleaseArguments {
    /// The release that was named, or else the one that this program was built for.
    pub(crate) fn release(self) -> Release {
        self.slurm.unwrap_or_else(own_release)
    }
}

/// The release that this program was built for.
pub(crate) fn own_release() -> Release {
    let (year, month) = Version::BUILT_FOR.release();
    Release::new(year, month)
}
