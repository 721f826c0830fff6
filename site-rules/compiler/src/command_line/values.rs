//! The values of options, as sbatch reads them.

use super::Release;
use site_rules::field::MAIL_TYPES;

/// Bytes of memory: a number of MiB, or with K, M, G or T, and those in whole MiB
/// (`str_to_mbytes` in src/common/proc_args.c).
pub(super) fn memory(text: &str) -> Option<i64> {
    let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let number: i64 = text[..end].parse().ok()?;
    let unit = text[end..].to_ascii_lowercase();
    let mebibytes = match unit.strip_suffix('b').filter(|unit| !unit.is_empty()).unwrap_or(&unit) {
        "" | "m" => number,
        "k" => number.checked_add(1023)? / 1024,
        "g" => number.checked_mul(1 << 10)?,
        "t" => number.checked_mul(1 << 20)?,
        _ => return None,
    };
    mebibytes.checked_mul(1 << 20)
}

/// Seconds of a time in Slurm's forms, or that there is no limit (`time_str2secs` in
/// src/common/parse_time.c).
pub(super) fn time(text: &str) -> Option<Option<i64>> {
    if text == "-1" || ["infinite", "unlimited"].iter().any(|word| text.eq_ignore_ascii_case(word)) {
        return Some(None);
    }
    let is_slurms = text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b':' | b'-'));
    slurm_conf::duration::parse(text).ok().filter(|_| is_slurms).map(Some)
}

/// How many nodes a job asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NodeCounts {
    /// The fewest.
    pub(crate) least: i64,
    /// The most; 0 where there is no bound.
    pub(crate) most: i64,
    /// All numbers that it takes, as sbatch writes them, where they are not one range.
    pub(crate) listed: Option<String>,
}

/// The greatest number of nodes in a list (src/common/proc_args.c, `MAX_JOB_SIZE_BITMAP`).
const MOST_LISTED: i64 = 0x3_0000;

/// Reads a number of nodes, a range or a list (`verify_node_count` in src/common/proc_args.c).
pub(crate) fn nodes(text: &str) -> Option<NodeCounts> {
    if text.contains([',', ':']) {
        return listed_nodes(text);
    }
    let (least, most) = match text.split_once('-') {
        Some((least, most)) => (count_of(least)?, count_of(most)?),
        None => (count_of(text)?, count_of(text)?),
    };
    (most == 0 || most >= least).then_some(NodeCounts { least, most, listed: None })
}

/// A list such as `2,4,8` or `1-3,5`, or a range with a step such as `2-8:2`, of which the last
/// number is not one itself (`bitfmt2int` in src/common/bitstring.c).
fn listed_nodes(text: &str) -> Option<NodeCounts> {
    let number = |text: &str| text.parse::<i64>().ok().filter(|number| (0..MOST_LISTED).contains(number));
    let range = |text: &str| match text.split_once('-') {
        Some((first, last)) => Some((number(first)?, number(last)?)),
        None => Some((number(text)?, number(text)?)),
    };
    let mut runs: Vec<(i64, i64)> = match text.split_once(':') {
        Some((ends, step)) => {
            let ((first, last), step) = (range(ends)?, number(step).filter(|step| *step > 0)?);
            let step = usize::try_from(step).ok()?;
            (first..last).step_by(step).map(|count| (count, count)).collect()
        }
        None => text.split(',').map(range).collect::<Option<Vec<_>>>()?,
    };
    runs.sort_unstable();
    let (least, most) = (runs.first()?.0, runs.iter().map(|run| run.1).max()?);
    let mut joined: Vec<(i64, i64)> = Vec::new();
    for (first, last) in runs {
        match joined.last_mut() {
            Some(before) if first <= before.1 + 1 => before.1 = before.1.max(last),
            _ => joined.push((first, last)),
        }
    }
    let written = joined.iter().map(|(first, last)| if first == last { first.to_string() } else { format!("{first}-{last}") });
    Some(NodeCounts { least, most, listed: Some(written.collect::<Vec<_>>().join(",")) })
}

/// A number of nodes or CPUs, with `k` for 1024 and `m` for 1024 times as many.
pub(crate) fn count_of(text: &str) -> Option<i64> {
    let text = text.trim();
    let (digits, factor) = match text.strip_suffix(['k', 'K']) {
        Some(digits) => (digits, 1 << 10),
        None => text.strip_suffix(['m', 'M']).map_or((text, 1), |digits| (digits, 1 << 20)),
    };
    digits.parse::<u32>().ok().map(i64::from)?.checked_mul(factor)
}

/// How many nodes a list such as `n[1-4,7],m` names.
pub(super) fn named_nodes(list: &str) -> Option<i64> {
    let mut count = 0_i64;
    let mut rest = list;
    while !rest.is_empty() {
        let end = rest.find([',', '[']).unwrap_or(rest.len());
        let mut of_name = 1_i64;
        let mut behind = &rest[end..];
        while let Some(opened) = behind.strip_prefix('[') {
            let (ranges, closed) = opened.split_once(']')?;
            of_name = of_name.checked_mul(ranges.split(',').map(range).try_fold(0_i64, |sum, size| sum.checked_add(size?))?)?;
            let next = closed.find([',', '[']).unwrap_or(closed.len());
            behind = &closed[next..];
        }
        if end > 0 {
            count = count.checked_add(of_name)?;
        }
        rest = behind.strip_prefix(',').unwrap_or(behind);
    }
    Some(count)
}

fn range(text: &str) -> Option<i64> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last): (i64, i64) = (first.parse().ok()?, last.parse().ok()?);
    last.checked_sub(first)?.checked_add(1).filter(|size| *size > 0)
}

/// A signal and how many seconds before the end it comes (`get_signal_opts` in
/// src/common/proc_args.c).
pub(super) fn signal(text: &str) -> Option<(i64, i64)> {
    const NAMES: [(&str, i64); 20] = [
        ("HUP", 1),
        ("INT", 2),
        ("QUIT", 3),
        ("ABRT", 6),
        ("KILL", 9),
        ("USR1", 10),
        ("SEGV", 11),
        ("USR2", 12),
        ("PIPE", 13),
        ("ALRM", 14),
        ("TERM", 15),
        ("CHLD", 17),
        ("CONT", 18),
        ("STOP", 19),
        ("TSTP", 20),
        ("TTIN", 21),
        ("TTOU", 22),
        ("URG", 23),
        ("XCPU", 24),
        ("XFSZ", 25),
    ];
    let text = match text.split_once(':') {
        Some((flags, rest)) if flags.chars().all(|flag| matches!(flag, 'R' | 'r' | 'B' | 'b')) => rest,
        Some(_) => return None,
        None => text,
    };
    let (name, time) = text.split_once('@').map_or((text, Some(60)), |(name, time)| (name, time.parse().ok()));
    let upper = name.to_ascii_uppercase();
    let bare = upper.strip_prefix("SIG").unwrap_or(&upper);
    let number = name.parse().ok().or_else(|| NAMES.iter().find(|(known, _)| *known == bare).map(|(_, number)| *number));
    number.filter(|number| (1..=0xffff).contains(number)).zip(time.filter(|time| (0..=0xffff).contains(time)))
}

/// The least and the greatest frequency of a CPU in kilohertz and the governor, as Slurm's numbers,
/// each where it is said (`cpu_freq_verify_cmdline` in src/common/cpu_frequency.c).
pub(super) fn cpu_frequency(text: &str, release: Release) -> Option<[Option<i64>; 3]> {
    const USERSPACE: i64 = 0x8080_0000;
    const GOVERNORS: [(&str, i64); 6] = [
        ("co", 0x8800_0000),
        ("perf", 0x8200_0000),
        ("pow", 0x8100_0000),
        ("user", USERSPACE),
        ("onde", 0x8400_0000),
        ("sche", 0x8040_0000),
    ];
    const FREQUENCIES: [(&str, i64); 5] =
        [("lo", 0x8000_0001), ("him1", 0x8000_0004), ("highm1", 0x8000_0004), ("hi", 0x8000_0003), ("med", 0x8000_0002)];
    let lower = text.to_ascii_lowercase();
    let begins = |text: &str, words: &[(&str, i64)]| words.iter().find(|(word, _)| text.starts_with(word)).map(|(_, number)| *number);
    let governor = |text: &str| begins(text, &GOVERNORS);
    let frequency =
        |text: &str| begins(text, &FREQUENCIES).or_else(|| text.parse::<u32>().ok().filter(|number| *number > 0).map(i64::from));
    let (range, named) = lower.split_once(':').map_or((lower.as_str(), None), |(range, named)| (range, Some(named)));
    let (first, second) = range.split_once('-').map_or((range, None), |(first, second)| (first, Some(second)));
    if let Some(number) = governor(first) {
        return (second.is_none() && named.is_none()).then_some([None, None, Some(number)]);
    }
    let named = match named {
        Some(named) => Some(governor(named)?),
        None => None,
    };
    let first = frequency(first)?;
    // One frequency alone is kept by the governor of that kind, since 23.11.
    let named = named.or_else(|| (second.is_none() && release.is_since(23, 11)).then_some(USERSPACE));
    Some(match second {
        Some(second) => [Some(first), Some(frequency(second)?), named],
        None => [None, Some(first), named],
    })
}

/// When mail is sent, in the order of its bits (`parse_mail_type` in src/common/proc_args.c). No
/// word at all is none of them, as there.
pub(crate) fn mail_types(text: &str) -> Option<Vec<String>> {
    const OF_ALL: [&str; 6] = ["BEGIN", "END", "FAIL", "REQUEUE", "STAGE_OUT", "INVALID_DEPEND"];
    let mut named = Vec::new();
    for word in text.split(',').filter(|word| !word.is_empty()) {
        match word.to_ascii_uppercase().as_str() {
            "NONE" => return Some(Vec::new()),
            "ALL" => named.extend(OF_ALL),
            word => named.push(MAIL_TYPES.iter().find(|known| **known == word)?),
        }
    }
    let types = MAIL_TYPES.iter().filter(|name| named.contains(name)).map(|name| (*name).to_owned());
    (!named.is_empty()).then(|| types.collect())
}

/// A list of resources with `gres/` before each.
pub(super) fn prefixed(list: &str, kind: &str) -> String {
    let bare = |part: &str| part.strip_prefix("gres/").or(part.strip_prefix("gres:")).unwrap_or(part).to_owned();
    let parts = list.split(',').filter(|part| !part.is_empty());
    parts.map(|part| format!("gres/{kind}{}", bare(part))).collect::<Vec<_>>().join(",")
}

/// The map of a binding to memory, which stands behind its words (`slurm_verify_mem_bind` in
/// src/common/proc_args.c).
pub(super) fn memory_map(text: &str) -> Option<&str> {
    ["map_mem:", "mask_mem:"].iter().find_map(|word| text.split_once(word)).map(|(_, map)| map)
}

/// Slurm's number of a layout of tasks, and the size of a plane (slurm/slurm.h,
/// `task_dist_states_t`).
pub(super) fn distribution(text: &str) -> Option<(i64, Option<i64>)> {
    let (layout, flags) = text.split_once(',').unwrap_or((text, ""));
    let flag = match flags.to_ascii_lowercase().as_str() {
        "" => 0,
        "pack" => 0x80_0000,
        "nopack" => 0x40_0000,
        _ => return None,
    };
    let lower = layout.to_ascii_lowercase();
    if let Some(size) = lower.strip_prefix("plane=") {
        return size.parse().ok().map(|size: u16| (flag | 4, Some(i64::from(size))));
    }
    let mut number = 0;
    for (level, word) in lower.split(':').enumerate() {
        let digit = match (level, word) {
            (0..3, "cyclic") => 1,
            (0..3, "block") => 2,
            (0, "arbitrary") | (1..3, "fcyclic") => 3,
            _ => return None,
        };
        number |= digit << (4 * level);
    }
    Some((flag | number, None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_counted_in_whole_mebibytes() {
        let of = ["0", "100", "1k", "1025K", "2M", "4GB", "1T", "B", "", "1P", "-1", "1.5G"].map(memory);
        let mebibytes = |count: i64| Some(count << 20);
        assert_eq!(
            of,
            [
                mebibytes(0),
                mebibytes(100),
                mebibytes(1),
                mebibytes(2),
                mebibytes(2),
                mebibytes(4096),
                mebibytes(1 << 20),
                None,
                None,
                None,
                None,
                None
            ]
        );
    }

    #[test]
    fn nodes_are_one_number_a_range_or_a_list() {
        let read = |text: &str| nodes(text).map(|NodeCounts { least, most, listed }| (least, most, listed.unwrap_or_default()));
        let of = |least, most, listed: &str| Some((least, most, listed.to_owned()));
        assert_eq!(["4", "2-4", "1k"].map(read), [of(4, 4, ""), of(2, 4, ""), of(1024, 1024, "")]);
        assert_eq!(["2,4,8", "8,1-3,4", "2-8:2"].map(read), [of(2, 8, "2,4,8"), of(1, 8, "1-4,8"), of(2, 6, "2,4,6")]);
        assert_eq!(["4-2", "x", "", "-1", "2-", "2-8:0", "1,x", "1,999999"].map(read), const { [const { None }; 8] });
    }

    #[test]
    fn nodes_of_a_list_are_counted() {
        let counted = ["n1", "n[1-4]", "n[1-4,7],m", "a[1-2]b[1-3],c", "n[1-", "n[4-1]"].map(named_nodes);
        assert_eq!(counted, [Some(1), Some(4), Some(6), Some(7), None, None]);
    }

    #[test]
    fn signals_have_names_flags_and_times() {
        let read = ["USR1", "SIGTERM@30", "B:10@120", "R:USR2", "X:1", "NONE", "USR1@x"].map(signal);
        assert_eq!(read, [Some((10, 60)), Some((15, 30)), Some((10, 120)), Some((12, 60)), None, None, None]);
    }

    #[test]
    fn times_are_those_of_slurm_alone() {
        let read = ["30", "1:00:00", "1-12", "UNLIMITED", "-1", "30s", ""].map(time);
        assert_eq!(read, [Some(Some(1800)), Some(Some(3600)), Some(Some(129_600)), Some(None), Some(None), None, None]);
    }

    #[test]
    fn layouts_of_tasks_have_the_numbers_of_slurm() {
        let read = ["block", "cyclic:block", "block:cyclic:fcyclic", "plane=4", "arbitrary", "block,Pack", "x"].map(distribution);
        let plain = |number| Some((number, None));
        assert_eq!(read, [plain(2), plain(0x21), plain(0x312), Some((4, Some(4))), plain(3), plain(0x80_0002), None]);
    }
}
