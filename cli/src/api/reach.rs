//! Where the daemon is asked: at its socket, or on another host over the network.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use daemon_api::Refusal;
use daemon_api::credential::{Signed, authorization};
use slurm_conf::SlurmSettings;
use slurm_conf::configuration::HostPort;
use slurm_conf::slurm_settings::munge_socket;
use slurm_sys::munge::Munge;
use tokio::net::{TcpStream, UnixStream};
use tokio::time::timeout;

use super::NotAnswered;

/// How long a host may take to accept a connection, before the next host of slurmctld is tried.
const CONNECT_PATIENCE: Duration = Duration::from_secs(2);

/// Where the daemon is asked.
#[derive(Debug, Clone)]
pub(crate) enum Reach {
    /// At its socket alone.
    Socket(PathBuf),
    /// At its socket, and where that is not on this host at `[api] listen`.
    Both(PathBuf, HostPort),
    /// At `[api] listen`, wherever its socket is.
    Network(HostPort),
}

/// A connection to the daemon.
pub(super) enum Connection {
    /// By its socket, of which the kernel knows who asks.
    Here(UnixStream),
    /// From another host, by which munge says it.
    There(TcpStream, Signer),
}

/// What makes credentials for requests.
pub(super) struct Signer {
    munge: Munge,
    cluster: String,
}

impl Reach {
    /// Connects to the daemon.
    pub(super) async fn connect(&self) -> Result<Connection, NotAnswered> {
        match self {
            Self::Socket(path) => here(path).await,
            Self::Network(listen) => there(listen).await,
            Self::Both(path, listen) => match here(path).await {
                Err(NotAnswered::Away { source, .. }) if is_elsewhere(&source) => there(listen).await,
                outcome => outcome,
            },
        }
    }
}

/// Whether the daemon's socket is on this host, as far as it tells.
pub(crate) fn is_here(socket: &Path) -> bool {
    !std::os::unix::net::UnixStream::connect(socket).is_err_and(|error| is_elsewhere(&error))
}

/// Whether nobody listens at a socket: there is none, or it is that of another host, which shares
/// the state directory, or of a daemon that has ended.
fn is_elsewhere(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::ConnectionRefused)
}

/// Connects to a socket.
async fn here(path: &Path) -> Result<Connection, NotAnswered> {
    UnixStream::connect(path).await.map(Connection::Here).map_err(|source| match source.kind() {
        // More callers wait than the system keeps.
        ErrorKind::WouldBlock => NotAnswered::Busy(Refusal::because("too many ask at once")),
        _ => NotAnswered::Away { path: path.to_owned(), source },
    })
}

/// Connects over the network.
async fn there(listen: &HostPort) -> Result<Connection, NotAnswered> {
    let unready = |reason: String| NotAnswered::NoCredential(reason);
    let path = SlurmSettings::usual_path().ok_or_else(|| unready("slurm.conf, which names the cluster, is not here".to_owned()))?;
    let slurm = SlurmSettings::read(&path).map_err(|error| unready(format!("{}: {error}", path.display())))?;
    let cluster = slurm.get("ClusterName").ok_or_else(|| unready(format!("{}: there is no ClusterName", path.display())))?;
    let munge = Munge::new(munge_socket(slurm.get("AuthInfo").unwrap_or_default()).as_deref());
    let munge = munge.map_err(|error| unready(error.to_string()))?;
    let mut failed = None;
    for host in hosts(listen, &slurm) {
        let place = HostPort { host: host.to_owned(), port: listen.port };
        match timeout(CONNECT_PATIENCE, TcpStream::connect((host, listen.port))).await {
            Ok(Ok(stream)) => return Ok(Connection::There(stream, Signer { munge, cluster: cluster.to_owned() })),
            Ok(Err(source)) => failed = Some((place, source)),
            Err(_) => failed = Some((place, ErrorKind::TimedOut.into())),
        }
    }
    let (place, source) = failed.unwrap_or_else(|| (listen.clone(), io::Error::other("slurm.conf names no SlurmctldHost")));
    Err(NotAnswered::Unreachable { place, source })
}

/// The hosts at which the daemon may listen: the one that is named; where it listens at all
/// addresses of its host, those of slurmctld.
fn hosts<'a>(listen: &'a HostPort, slurm: &'a SlurmSettings) -> Vec<&'a str> {
    if listen.is_every_address() { slurm.controller_addresses() } else { vec![listen.host.as_str()] }
}

impl Signer {
    /// The value of the header `Authorization` for a request.
    pub(super) fn authorization(&self, method: &str, path: &str, body: &[u8]) -> Result<String, NotAnswered> {
        let digest = Signed { cluster: &self.cluster, method, path, body }.digest();
        let credential = self.munge.encode(digest.as_bytes()).map_err(|error| NotAnswered::NoCredential(error.to_string()))?;
        Ok(authorization(&credential))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_listens_at_all_addresses_is_found_at_slurmctld_s_hosts() {
        let slurm = SlurmSettings::parse("ClusterName=east\nSlurmctldHost=ctl(10.0.0.1)\nSlurmctldHost=ctl2\n");
        let found = |listen: &str| hosts(&HostPort::parse(listen).unwrap(), &slurm).join(",");
        assert_eq!([found("0.0.0.0:9488"), found("[::]:9488"), found("api:9488")], ["10.0.0.1,ctl2", "10.0.0.1,ctl2", "api"]);
    }

    #[test]
    fn a_socket_that_is_not_here_is_told_from_one_that_is() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("api-socket");
        assert!(!is_here(&path));
        let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
        assert!(is_here(&path));
        drop(listener);
        assert!(!is_here(&path), "nobody listens there any more");
    }
}
