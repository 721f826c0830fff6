//! Mail about firm slots, sent as slurmctld sends its own: by the cluster's `MailProg`.
//!
//! slurmctld runs `MailProg -s SUBJECT ADDRESS` with nothing on standard input, and ends it after
//! two minutes; all that it has to say stands in the subject, which begins with the job's number
//! (`mail_job_info` and `_mail_proc` in src/slurmctld/agent.c, `run_command` in
//! src/common/run_command.c, the same in 22.05 and 26.05). So does this.

use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use crossbeam::channel::{Receiver, Sender, bounded};
use elsewhere::process;
use job_types::number::JobId;
use job_types::slot::SlotState;
use slurm_sys::client;
use slurm_sys::client::controller::{self, QueuedJob};

/// How long a mail may take (`MAIL_PROG_TIMEOUT` in src/slurmctld/agent.c).
const PATIENCE: Duration = Duration::from_secs(120);
/// How many mails may wait for those before them.
const MOST_WAITING: usize = 64;
/// The most bytes of an address, as slurmctld has it (`mail_user` of `_validate_job_desc` in
/// src/slurmctld/job_mgr.c).
const LONGEST_ADDRESS: usize = 1024;
/// The most characters of what a subject says.
const LONGEST_SUBJECT: usize = 300;
/// Where programs are found that `MailProg` runs.
const PROGRAMS: &str = "/usr/sbin:/usr/bin:/sbin:/bin";

/// What is said of a slot that is over, where its user did not get what was asked for; `None` for
/// any other end.
pub(super) fn of_end(state: SlotState, why: Option<&str>) -> Option<String> {
    let is_told = matches!(state, SlotState::Returned | SlotState::Refused | SlotState::Lost);
    is_told.then(|| format!("Firm slot {}: {}", state.name(), why.unwrap_or("no slot is left in the window")))
}

/// What is said of a slot that was taken away, and whether another one has its place by now.
pub(super) fn of_replacement(why: &str, has_another: bool) -> String {
    if has_another {
        format!("Firm slot replaced by another: {why}")
    } else {
        format!("Firm slot taken away: {why}; another is looked for")
    }
}

/// A mail that is to be sent.
#[derive(Debug)]
struct Mail {
    job: JobId,
    address: String,
    subject: String,
}

impl Mail {
    /// `None` where the job's user wants none, or has given an address that is none.
    fn new(job: &QueuedJob, says: &str) -> Option<Self> {
        let address = job.mail_of_failure.as_deref()?;
        if !is_address(address) {
            tracing::debug!(job = job.job_id.0, "a mail is not sent, because its address is none");
            return None;
        }
        let subject = format!("Slurm Job_id={} {}", job.job_id.0, says.chars().map(plain).take(LONGEST_SUBJECT).collect::<String>());
        Some(Self { job: job.job_id, address: address.to_owned(), subject })
    }

    /// Has a program send it, and waits until that has ended.
    fn send(&self, program: &Path, cluster: &str) -> Result<(), String> {
        let mut command = Command::new(program);
        command.arg("-s").arg(&self.subject).arg(&self.address).current_dir("/");
        // Some of what slurmctld tells the program of the job (`job_common_env_vars` in
        // src/slurmctld/job_mgr.c), and nothing of the daemon's own.
        command.env_clear().env("PATH", PROGRAMS).env("SLURM_CLUSTER_NAME", cluster).env("SLURM_JOB_ID", self.job.0.to_string());
        let said = process::run(&mut command, PATIENCE).map_err(|silence| silence.to_string())?;
        match said.status {
            Some(0) => Ok(()),
            _ => Err(said.last_words().chars().map(plain).take(LONGEST_SUBJECT).collect()),
        }
    }
}

/// Whether a mail program takes a text for an address, and not for an option (`-`), a command (`|`)
/// or a file (`/`), nor a site's script for several words. A list of addresses is one.
fn is_address(text: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "@.,_+-".contains(letter);
    let begins_well = |part: &str| part.starts_with(|letter: char| letter.is_ascii_alphanumeric());
    text.len() <= LONGEST_ADDRESS && text.chars().all(is_plain) && text.split(',').all(begins_well)
}

/// A character as it stands in a subject. Scripts of sites split subjects at commas, as Slurm's own
/// does (contribs/seff/smail), and shells read patterns in them.
fn plain(letter: char) -> char {
    match letter {
        ',' => ';',
        _ if letter.is_alphanumeric() || " .:;()-_+=%/'".contains(letter) => letter,
        _ => ' ',
    }
}

/// Sends mails on a thread of its own, for which nobody waits.
#[derive(Debug)]
pub(super) struct Mailer {
    mails: Sender<Mail>,
    /// Whether the log says that mails are left out.
    is_told: bool,
}

impl Mailer {
    pub(super) fn start() -> Self {
        let (mails, received) = bounded(MOST_WAITING);
        // Without the thread nobody receives, and the first mail says so.
        let _ = thread::Builder::new().name("mail".to_owned()).spawn(move || send_all(&received));
        Self { mails, is_told: false }
    }

    /// Has the user of a job told by mail, where that is wanted: what `--mail-type=FAIL` asks for.
    pub(super) fn send(&mut self, job: &QueuedJob, says: &str) {
        let Some(mail) = Mail::new(job, says) else { return };
        match self.mails.try_send(mail) {
            Ok(()) => self.is_told = false,
            Err(_) if self.is_told => {}
            Err(_) => {
                self.is_told = true;
                tracing::warn!("mails about firm slots are left out: too many wait until others are sent");
            }
        }
    }
}

fn send_all(mails: &Receiver<Mail>) {
    let mut is_told = false;
    for mail in mails {
        match send(&mail) {
            Ok(()) => is_told = false,
            Err(_) if is_told => {}
            Err(reason) => {
                is_told = true;
                tracing::warn!(
                    job = mail.job.0,
                    reason,
                    "a mail about a firm slot can't be sent; nothing is said of the next ones until one can"
                );
            }
        }
    }
}

fn send(mail: &Mail) -> Result<(), String> {
    let program = controller::mail_program().map_err(|error| error.to_string())?.ok_or("slurm.conf has no MailProg")?;
    let cluster = client::site().map_err(|error| error.to_string())?.cluster;
    mail.send(&program, &cluster).map_err(|reason| format!("{}: {reason}", program.display()))?;
    tracing::info!(job = mail.job.0, "sent a mail about a firm slot");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::known::made_up::job;
    use slurm_sys::client::JobState;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    fn mail(address: Option<&str>) -> Option<Mail> {
        let job = QueuedJob { mail_of_failure: address.map(str::to_owned), ..job(41, JobState::Pending, 2) };
        Mail::new(&job, "Firm slot lost: slurmctld says \"no\", *\u{7}\u{202e}$(touch x)")
    }

    #[test]
    fn users_are_told_of_slots_that_they_lose_and_not_of_those_that_were_used_or_that_they_gave_back() {
        let told: Vec<SlotState> = SlotState::ALL.into_iter().filter(|state| of_end(*state, None).is_some()).collect();
        assert_eq!(told, [SlotState::Returned, SlotState::Refused, SlotState::Lost]);
        assert_eq!(of_end(SlotState::Lost, Some("nodes are down")).as_deref(), Some("Firm slot lost: nodes are down"));
        assert_eq!(of_replacement("nodes are down", true), "Firm slot replaced by another: nodes are down");
        assert!(of_replacement("nodes are down", false).ends_with("nodes are down; another is looked for"));
    }

    #[test]
    fn a_mail_goes_to_whoever_wants_one_and_only_to_what_is_an_address() {
        assert!(mail(None).is_none());
        for address in ["games", "games@example.org", "ann.b_c+slurm@mail-1.example.org,bob"] {
            assert_eq!(mail(Some(address)).map(|mail| mail.address).as_deref(), Some(address));
        }
        let long = "a".repeat(LONGEST_ADDRESS + 1);
        let hostile =
            ["", "-s", "-oQ/tmp@a", "a,-b", "a,", "a b", "a\nb", "a\0", "|sh", "/etc/passwd", "+folder", "a@$(id)", "a;b", "\u{e4}", &long];
        for address in hostile {
            assert!(mail(Some(address)).is_none(), "{address:?}");
        }
    }

    #[test]
    fn a_subject_begins_as_those_of_slurmctld_and_has_nothing_that_a_script_could_misread() {
        let subject = mail(Some("games")).unwrap().subject;
        assert_eq!(subject, "Slurm Job_id=41 Firm slot lost: slurmctld says  no ;     (touch x)");
    }

    #[test]
    fn a_program_is_run_with_subject_and_address_and_its_failure_is_told() {
        let directory = tempfile::tempdir().unwrap();
        let (program, printed) = (directory.path().join("mail"), directory.path().join("printed"));
        let write = |last: &str| {
            let script = format!("#!/bin/sh\n(printf '%s|' \"$@\"; env | sort; cat) > '{}'\n{last}\n", printed.display());
            fs::write(&program, script).unwrap();
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        };
        let mail = mail(Some("games")).unwrap();
        write("");
        assert_eq!(mail.send(&program, "east"), Ok(()));
        let given = fs::read_to_string(&printed).unwrap();
        assert!(given.starts_with(&format!("-s|{}|games|", mail.subject)), "{given}");
        let names: Vec<&str> = given.split('|').next_back().unwrap().lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
        assert_eq!(names, ["PATH", "PWD", "SLURM_CLUSTER_NAME", "SLURM_JOB_ID"]);
        write("echo 'no route, 7' >&2; exit 75");
        assert_eq!(mail.send(&program, "east"), Err("no route; 7".to_owned()));
        assert!(mail.send(Path::new("/nonexistent"), "east").is_err());
    }
}
