//! The text of a batch script, as sbatch finds and accepts it.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

/// What stands for standard input.
pub(super) const STANDARD_INPUT: &str = "-";

/// More than a script can have where the site lets it: slurmctld takes 4 MiB, unless
/// `max_script_size` says more.
const MOST_BYTES: u64 = 64 << 20;

/// The text of a script that is named as for sbatch. What is not in the working directory is looked
/// for in the directories of `PATH` (`search_path` in src/common/slurm_opt.c).
///
/// # Errors
/// It can't be read, or sbatch would not take it.
pub(super) fn text(name: &str) -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    if name == STANDARD_INPUT {
        io::stdin().take(MOST_BYTES).read_to_end(&mut bytes).context("standard input")?;
    } else {
        let opened = File::open(name).or_else(|error| in_path(name).map_or(Err(error), File::open));
        opened.and_then(|file| file.take(MOST_BYTES).read_to_end(&mut bytes)).with_context(|| name.to_owned())?;
    }
    let text = String::from_utf8_lossy(&bytes).into_owned();
    check(&text).with_context(|| name.to_owned())?;
    Ok(text)
}

fn in_path(name: &str) -> Option<PathBuf> {
    if name.starts_with(['.', '/']) {
        return None;
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|directory| directory.join(name)).find(|file| Path::is_file(file))
}

/// What sbatch demands of every script (`_script_body` and what it calls in src/sbatch/sbatch.c).
fn check(text: &str) -> anyhow::Result<()> {
    if text.trim_ascii().is_empty() {
        bail!("the script is empty, and sbatch refuses it");
    }
    if !text.starts_with("#!") {
        bail!("the first line is none such as #!/bin/sh, and sbatch takes no script without one");
    }
    if text.contains('\0') {
        bail!("there is a byte 0 in the script, and sbatch refuses it");
    }
    if text.contains("\r\n") {
        bail!("lines end as on Windows (CR LF), and sbatch refuses that: convert the script, as with dos2unix");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_sbatch_refuses_is_refused_with_the_reason() {
        check("#!/bin/sh\nhostname\n").unwrap();
        for (text, named) in
            [("", "empty"), (" \n\t\n", "empty"), ("hostname\n", "#!/bin/sh"), ("#!/bin/sh\0", "byte 0"), ("#!/bin/sh\r\n", "CR LF")]
        {
            assert!(check(text).unwrap_err().to_string().contains(named), "{text:?}");
        }
    }

    #[test]
    fn a_script_is_found_by_its_path_or_in_path() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("job.sh");
        std::fs::write(&path, "#!/bin/sh\n").unwrap();
        assert_eq!(text(path.to_str().unwrap()).unwrap(), "#!/bin/sh\n");
        let error = format!("{:#}", text("no-such-script-here").unwrap_err());
        assert!(error.starts_with("no-such-script-here: No such file"), "{error}");
        assert_eq!(in_path("sh").map(|path| path.ends_with("sh")), Some(true));
        assert_eq!(in_path("./sh"), None);
    }
}
