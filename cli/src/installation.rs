//! The places of the snapshot, the kill switch and the counters, and the snapshot itself.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use clap::Args;
use command_parts::failure::Failure;
use command_parts::output::FormatArguments;
use forecast_report::PRIVACY_NOTE;
use job_types::time::UnixTime;
use predictor_core::decisions::counters::Counted;
use predictor_core::decisions::refusals::Refusals;
use predictor_core::snapshot::Snapshot;
use simulator::guard::state::Act;
use site_rules::data::{self, DataFile};
use slurm_conf::configuration::{ApiSettings, ClusterSettings};
use slurm_conf::state_directory::{
    API, COUNTERS, COUNTERS_ENVELOPE, KILL_SWITCH, PUBLIC_SNAPSHOT, REFUSALS, REFUSALS_ENVELOPE, RULES_DATA, SNAPSHOT,
};
use slurm_conf::trusted::{is_damage, open_owned, read_owned};
use slurm_conf::{Configuration, ConfigurationError, SlurmSettings};

use crate::api::{self, Reach};
use crate::no_snapshot::{NoSnapshot, NoSnapshotHere};

/// More than any snapshot has, in bytes.
const MOST_SNAPSHOT_BYTES: usize = 512 << 20;

/// Says where the snapshot is.
#[derive(Debug, Args)]
pub(crate) struct InstallationArguments {
    /// Where the snapshot is [default: state_directory of queuecast.toml, which is the file that
    /// QUEUECAST_CONF names, else the one beside slurm.conf].
    #[arg(long, value_name = "DIR")]
    state_directory: Option<PathBuf>,
}

/// The state directory, and the configuration file as it is now.
#[derive(Debug)]
pub(crate) struct Installation {
    /// The state directory.
    pub(crate) directory: PathBuf,
    /// The configuration file.
    pub(crate) configuration_path: PathBuf,
    /// What is wrong with it now.
    pub(crate) configuration_error: Option<ConfigurationError>,
    /// When it was last written; `None` where there is none.
    pub(crate) configuration_written_at: Option<UnixTime>,
    /// The other clusters that it names.
    pub(crate) clusters: BTreeMap<String, ClusterSettings>,
    /// How it lets other hosts ask the daemon.
    pub(crate) api: ApiSettings,
    /// What it lets the guard do; `None` where it can't be used, or is of another cluster.
    pub(crate) guard_act: Option<Act>,
}

impl Installation {
    /// The installation that the configuration names.
    pub(crate) fn configured() -> Installation {
        InstallationArguments { state_directory: None }.find()
    }
}

/// What a command takes that reports on the snapshot.
#[derive(Debug, Args)]
pub(crate) struct ReportArguments {
    #[command(flatten)]
    installation: InstallationArguments,

    #[command(flatten)]
    pub(crate) format: FormatArguments,
}

impl ReportArguments {
    /// Finds the installation, as [`InstallationArguments::find`].
    pub(crate) fn installation(&self) -> Installation {
        self.installation.find()
    }
}

impl InstallationArguments {
    /// The state directory that is named on the command line.
    pub(crate) fn state_directory(&self) -> Option<&Path> {
        self.state_directory.as_deref()
    }

    /// Finds the installation. A configuration file that is broken or missing is no obstacle, only
    /// noted.
    pub(crate) fn find(&self) -> Installation {
        let path = Configuration::path();
        let (configured, clusters, api, guard_act, error) = match Configuration::load(&path) {
            Ok(Configuration { state_directory, clusters, api, guard, .. }) => (state_directory, clusters, api, Some(guard.act), None),
            Err(error) => {
                let configured = directory_before(&error).unwrap_or_else(|| Configuration::default().state_directory);
                (configured, BTreeMap::new(), ApiSettings::default(), None, Some(error))
            }
        };
        Installation {
            directory: self.state_directory.clone().unwrap_or(configured),
            configuration_written_at: fs::metadata(&path).ok().map(|metadata| UnixTime(metadata.mtime())),
            configuration_path: path,
            configuration_error: error,
            clusters,
            // Another directory may be that of another cluster.
            api: if self.state_directory.is_some() { ApiSettings::default() } else { api },
            guard_act,
        }
    }
}

/// The state directory that a broken file names before the line that is wrong: the key stands at
/// its beginning.
fn directory_before(error: &ConfigurationError) -> Option<PathBuf> {
    let ConfigurationError::Line { path, line, .. } = error else { return None };
    let text = String::from_utf8_lossy(&fs::read(path).ok()?).into_owned();
    let good: Vec<&str> = text.lines().take(line - 1).collect();
    let table: toml::Table = good.join("\n").parse().ok()?;
    table.get("state_directory")?.as_str().map(PathBuf::from)
}

impl Installation {
    /// The path of the snapshot.
    pub(crate) fn snapshot_path(&self) -> PathBuf {
        self.directory.join(SNAPSHOT)
    }

    /// The path of the API's socket.
    pub(crate) fn api_socket(&self) -> PathBuf {
        self.directory.join(API)
    }

    /// Where the daemon is asked.
    pub(crate) fn reach(&self) -> Reach {
        match self.api.listen.clone() {
            Some(listen) => Reach::Both(self.api_socket(), listen),
            None => Reach::Socket(self.api_socket()),
        }
    }

    /// Returns the installation with another state directory, that of another cluster.
    pub(crate) fn with_directory(self, directory: PathBuf) -> Self {
        Self { directory, api: ApiSettings::default(), guard_act: None, ..self }
    }

    /// Returns the path of the kill switch; `None` while it is off.
    pub(crate) fn kill_switch(&self) -> Option<PathBuf> {
        let path = self.directory.join(KILL_SWITCH);
        path.symlink_metadata().is_ok().then_some(path)
    }

    /// Returns the path of the filter's counters.
    pub(crate) fn counters_path(&self) -> PathBuf {
        self.directory.join(COUNTERS)
    }

    /// What the filter has counted; `None` where the file is not of this release.
    pub(crate) fn counted(&self) -> io::Result<Option<Counted>> {
        Ok(COUNTERS_ENVELOPE.read(&self.counters_path())?.and_then(|content| Counted::from_bytes(&content)))
    }

    /// What the daemon has written for rules about users and jobs, where it can be read.
    pub(crate) fn rules_data(&self) -> Option<DataFile> {
        DataFile::decode(read_owned(&self.directory.join(RULES_DATA), data::LARGEST).ok()?).ok()
    }

    /// Returns the path of the file that notes whose submissions were refused for their deadlines.
    pub(crate) fn refusals_path(&self) -> PathBuf {
        self.directory.join(REFUSALS)
    }

    /// Whose submissions were refused for their deadlines; `None` where the file is not of this
    /// release.
    pub(crate) fn refusals(&self) -> io::Result<Option<Refusals>> {
        Ok(REFUSALS_ENVELOPE.read(&self.refusals_path())?.and_then(|content| Refusals::from_bytes(&content)))
    }

    /// Reads the snapshot. Into memory and not by a mapping: whoever asks need not trust the owner
    /// of the file.
    pub(crate) fn snapshot(&self) -> Result<Snapshot<Vec<u8>>, NoSnapshot> {
        let path = self.snapshot_path();
        let bytes = match read(&path) {
            // The site keeps users' jobs private.
            Err(NoSnapshot::Unreadable(_, error)) if is_refused(&error) => self.own_snapshot(error)?,
            // On other hosts than the daemon's the file is only where somebody copies it to.
            Err(NoSnapshot::Absent(directory)) if self.api.listen.is_some() => {
                api::snapshot(&self.reach(), MOST_SNAPSHOT_BYTES).map_err(|why| NoSnapshot::NotSent(directory, Box::new(why)))?
            }
            outcome => outcome?,
        };
        Snapshot::open(bytes).map_err(|error| NoSnapshot::Damaged(path, error))
    }

    /// Says so where this user is shown the snapshot without what is other users'.
    pub(crate) fn privacy_note(&self) -> Option<String> {
        let is_private = match open_owned(&self.snapshot_path()) {
            Err(error) if error.kind() == ErrorKind::NotFound && self.api.listen.is_some() => hides_jobs(),
            outcome => outcome.is_err_and(|error| is_refused(&error)),
        };
        is_private.then(|| PRIVACY_NOTE.to_owned())
    }

    /// The snapshot with what is this user's, from the daemon; without anybody's, from the file for
    /// everybody, where the daemon does not answer, as on other hosts.
    fn own_snapshot(&self, denied: io::Error) -> Result<Vec<u8>, NoSnapshot> {
        match api::snapshot(&self.reach(), MOST_SNAPSHOT_BYTES) {
            Ok(bytes) => Ok(bytes),
            Err(_) => read(&self.directory.join(PUBLIC_SNAPSHOT)).map_err(|_| NoSnapshot::Unreadable(self.snapshot_path(), denied)),
        }
    }

    /// Returns the snapshot like [`Installation::snapshot`], for a command that can't do anything
    /// without it.
    pub(crate) fn needed_snapshot(&self) -> Result<Snapshot<Vec<u8>>, Failure> {
        self.snapshot().map_err(|none| match &self.configuration_error {
            Some(error) => Failure::Input(NoSnapshotHere { none, configuration: error.to_string() }.into()),
            None => Failure::Input(none.into()),
        })
    }
}

/// Whether the system does not let this user read a file, which is private.
fn is_refused(error: &io::Error) -> bool {
    error.kind() == ErrorKind::PermissionDenied && !is_damage(error)
}

/// Whether slurm.conf of this host says that users do not see each other's jobs, of which the
/// daemon then leaves out of a snapshot what is others'.
fn hides_jobs() -> bool {
    let slurm = SlurmSettings::usual_path().and_then(|path| SlurmSettings::read(&path).ok());
    let private = slurm.as_ref().and_then(|slurm| slurm.get("PrivateData")).unwrap_or_default();
    private.split(',').any(|what| ["jobs", "users"].iter().any(|hidden| what.trim().eq_ignore_ascii_case(hidden)))
}

fn read(path: &Path) -> Result<Vec<u8>, NoSnapshot> {
    read_owned(path, MOST_SNAPSHOT_BYTES).map_err(|error| match error.kind() {
        ErrorKind::NotFound => NoSnapshot::Absent(path.parent().unwrap_or(path).to_owned()),
        ErrorKind::PermissionDenied if is_damage(&error) => NoSnapshot::Untrusted(path.to_owned()),
        _ => NoSnapshot::Unreadable(path.to_owned(), error),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_file_still_names_its_directory_where_that_stands_before_the_fault() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("queuecast.toml");
        fs::write(&path, "state_directory = \"/srv/qc\"\n[policy]\nmode = \"enf").unwrap();
        assert_eq!(directory_before(&Configuration::load(&path).unwrap_err()), Some(PathBuf::from("/srv/qc")));
        fs::write(&path, "state_directory = \"/srv").unwrap();
        assert_eq!(directory_before(&Configuration::load(&path).unwrap_err()), None);
    }
}
