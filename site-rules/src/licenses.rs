//! Licences with their counts, as a job asks for them: `matlab:2,ansys@server:3`.
//!
//! What is read follows `_build_license_list` (src/slurmctld/licenses.c): licences stand between
//! commas or semicolons, and from 25.05 on between bars where any of them will do; their number
//! stands behind `:` or, in later releases, `=`, and what is in brackets says where a licence
//! counts. What Slurm refuses is read as something all the same.

/// A licence that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct License<'a> {
    /// The licence's name, with the server that the licence is from, such as `ansys@server`.
    pub name: &'a str,
    /// How many of the licence are asked for; 1 where no number is given, and 0 for what is no
    /// number.
    pub count: i64,
}

/// The licence at a cursor, which is 0 at first and is put behind that licence; `None` behind the
/// last.
pub fn next<'a>(text: &'a str, cursor: &mut usize) -> Option<License<'a>> {
    loop {
        let rest = text.get(*cursor..).filter(|rest| !rest.is_empty())?;
        let part = rest.split([',', ';', '|']).next().unwrap_or(rest);
        *cursor = cursor.saturating_add(part.len()).saturating_add(1).min(text.len());
        let name = part.split([':', '=', '(']).next().unwrap_or(part);
        if name.is_empty() {
            continue;
        }
        let count = part.rsplit_once([':', '=']).map_or(1, |(_, count)| count.trim().parse().unwrap_or(0));
        return Some(License { name, count });
    }
}

/// How many licences of a name a request asks for: Slurm adds up those that stand there twice.
#[must_use]
pub fn count(text: &str, name: &str) -> i64 {
    let mut cursor = 0;
    let all = std::iter::from_fn(move || next(text, &mut cursor));
    all.filter(|license| license.name == name).fold(0, |sum, license| sum.saturating_add(license.count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn licences_are_read_with_their_counts() {
        let read = |text: &'static str| {
            let mut cursor = 0;
            std::iter::from_fn(move || next(text, &mut cursor)).map(|license| (license.name, license.count)).collect::<Vec<_>>()
        };
        assert_eq!(read("matlab:2,ansys"), [("matlab", 2), ("ansys", 1)]);
        assert_eq!(read(";postgres@db=3;;a:x,"), [("postgres@db", 3), ("a", 0)]);
        assert_eq!(read("a:1|b:2"), [("a", 1), ("b", 2)]);
        assert_eq!(read("power(rack1):4"), [("power", 4)]);
        assert_eq!(read(""), []);
        assert_eq!([count("a:1,b,a:2", "a"), count("a:1,b", "b"), count("ab:1", "a"), count("", "a")], [3, 1, 0, 0]);
    }
}
