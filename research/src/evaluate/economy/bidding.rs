//! How users bid, as it is named on the command line.

use std::fmt;
use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::Context;
use simulator::economy::Bidders;
use simulator::economy::bids::{Reading, UserModule, bids, file};

/// The eight user modules, and the one that bids anew.
pub(super) const ALL: &str = "zero,random,constant-total,proportional,categorized,binary-random,binary-categorized,mixed,ramp";

const RAMP: &str = "ramp";

/// How users bid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Bidding {
    /// As one of the eight modules does.
    Module(UserModule),
    /// More the longer a job waits.
    Ramp,
    /// As a file says.
    File(PathBuf),
}

impl FromStr for Bidding {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let module = UserModule::ALL.into_iter().find(|module| module.name() == text);
        match module {
            Some(module) => Ok(Self::Module(module)),
            None if text == RAMP => Ok(Self::Ramp),
            None if Path::new(text).is_file() => Ok(Self::File(PathBuf::from(text))),
            None => Err(format!("it is one of {ALL}, or a file of bids, and there is no file {text}")),
        }
    }
}

impl fmt::Display for Bidding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Module(module) => formatter.write_str(module.name()),
            Self::Ramp => formatter.write_str(RAMP),
            Self::File(path) => write!(formatter, "{}", path.display()),
        }
    }
}

impl Bidding {
    /// Whether it asks whose a job is.
    pub(super) fn needs_users(&self) -> bool {
        matches!(self, Self::Module(module) if module.needs_users())
    }

    /// The bid of each job; none where they are made while jobs wait.
    ///
    /// # Errors
    ///
    /// A file that can't be read, or has not one bid for each job.
    pub(super) fn bids(&self, bidders: &Bidders, reading: Reading, seed: u64) -> anyhow::Result<Vec<f64>> {
        match self {
            Self::Module(module) => Ok(bids(*module, reading, &bidders.jobs, seed)),
            Self::Ramp => Ok(Vec::new()),
            Self::File(path) => {
                let input = File::open(path).with_context(|| format!("cannot open the bids {}", path.display()))?;
                file::read(BufReader::new(input), &bidders.numbers).with_context(|| path.display().to_string())
            }
        }
    }
}

/// Writes the bids of the jobs into a file.
///
/// # Errors
///
/// The file can't be written; it is named.
pub(super) fn write(path: &Path, bidders: &Bidders, bids: &[f64]) -> anyhow::Result<()> {
    let written = || -> std::io::Result<()> {
        let mut output = BufWriter::new(File::create(path)?);
        file::write(&mut output, bidders.numbers.iter().copied().zip(bids.iter().copied()))?;
        output.flush()
    };
    written().with_context(|| format!("cannot write the bids {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use simulator::engine::preemptive::{Job, Milliseconds};

    #[test]
    fn a_name_is_a_module_before_it_is_a_file() {
        assert_eq!("binary-random".parse(), Ok(Bidding::Module(UserModule::BinaryRandom)));
        assert_eq!("ramp".parse(), Ok(Bidding::Ramp));
        let error = "no-such-module".parse::<Bidding>().unwrap_err();
        assert!(error.contains("mixed,ramp") && error.contains("no-such-module"), "{error}");
        assert!(ALL.split(',').all(|name| name.parse::<Bidding>().is_ok_and(|bidding| bidding.to_string() == name)));
    }

    #[test]
    fn bids_that_were_written_are_read_again() {
        let job = Job { user: 1, submit: Milliseconds::ZERO, run_time: Milliseconds(90_000), nodes: 3, is_io_bound: false };
        let bidders = Bidders { jobs: vec![job; 3], numbers: vec![7, 9, 12], nodes: 4, ineligible: 0, has_users: true };
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("bids.csv");
        let random = Bidding::Module(UserModule::Random).bids(&bidders, Reading::AsTabled, 1).unwrap();
        write(&path, &bidders, &random).unwrap();
        let read = |numbers: Vec<u64>| Bidding::File(path.clone()).bids(&Bidders { numbers, ..bidders.clone() }, Reading::AsTabled, 1);
        assert_eq!(read(vec![7, 9, 12]).unwrap(), random);
        let error = format!("{:#}", read(vec![7, 9, 13]).unwrap_err());
        assert!(error.contains("bids.csv") && error.contains("line 4") && error.contains("12"), "{error}");
    }
}
