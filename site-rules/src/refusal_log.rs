//! The lines of slurmctld's log about requests that the site's rules refuse: who asked, which rule
//! refuses and what it says, so that whoever is asked for help finds it.
//!
//! A user can have any number of requests refused, so that the lines of each are limited in rate.

use job_types::number::UserId;
use job_types::text::is_obeyed;
use job_types::time::UnixTime;

/// The most lines about one user within a minute.
const MOST_LINES: u32 = 10;

/// The most users about whom there are lines within a minute.
const MOST_USERS: usize = 1_024;

/// The longest text of a rule's message in a line, in bytes.
const LONGEST: usize = 512;

/// How many lines about each user a minute has had.
#[derive(Clone, Debug)]
pub struct RefusalLog {
    minute: i64,
    users: Vec<(UserId, u32)>,
}

/// A request that is refused.
#[derive(Clone, Copy, Debug)]
pub struct RefusedRequest<'a> {
    /// The user who asked.
    pub user: UserId,
    /// What was asked for: `submission` or `modification`.
    pub request: &'a str,
    /// The name of the rule, if it is one that refuses.
    pub rule: Option<&'a str>,
    /// What the user is told.
    pub message: &'a str,
}

impl RefusalLog {
    /// Returns a log without any line yet.
    #[must_use]
    pub const fn new() -> RefusalLog {
        RefusalLog { minute: i64::MIN, users: Vec::new() }
    }

    /// The line about a refusal; `None` where there were enough about the user.
    pub fn line(&mut self, refused: &RefusedRequest<'_>, now: UnixTime) -> Option<String> {
        let RefusedRequest { user, request, rule, message } = *refused;
        let count = self.counted(user, now).filter(|count| *count <= MOST_LINES)?;
        let by = rule.map_or_else(String::new, |rule| format!(" by the rule {rule}"));
        let told = message.get(..message.floor_char_boundary(LONGEST)).unwrap_or(message);
        let told: String = told.chars().map(|character| if is_obeyed(character) { ' ' } else { character }).collect();
        let last = if count == MOST_LINES { " (no more lines about this user in this minute)" } else { "" };
        Some(format!("job_submit/queuecast: a {request} by user {user} is refused{by}: {told}{last}"))
    }

    /// Counts a line about the user. Returns its ordinal within this minute; `None` if too many
    /// users have lines.
    fn counted(&mut self, user: UserId, now: UnixTime) -> Option<u32> {
        let minute = now.0.div_euclid(60);
        if self.minute != minute {
            self.minute = minute;
            self.users.clear();
        }
        if let Some((_, count)) = self.users.iter_mut().find(|(other, _)| *other == user) {
            *count = count.saturating_add(1);
            return Some(*count);
        }
        let has_room = self.users.len() < MOST_USERS;
        has_room.then(|| {
            self.users.push((user, 1));
            1
        })
    }
}

impl Default for RefusalLog {
    fn default() -> RefusalLog {
        RefusalLog::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_gets_ten_lines_a_minute_whatever_others_do_and_each_is_one_line() {
        let mut log = RefusalLog::new();
        let now = UnixTime(1_800_000_030);
        let mut line = |user: u32, seconds: i64| {
            let refused = RefusedRequest { user: UserId(user), request: "submission", rule: Some("size"), message: "too\nlarge" };
            log.line(&refused, UnixTime(now.0 + seconds))
        };
        let first = "job_submit/queuecast: a submission by user 7 is refused by the rule size: too large";
        assert_eq!(line(7, 0).as_deref(), Some(first));
        let others: Vec<String> = (0..20).filter_map(|_| line(7, 0)).collect();
        assert_eq!(others.len(), 9);
        assert!(others[8].ends_with("(no more lines about this user in this minute)"), "{}", others[8]);
        assert!(line(8, 0).is_some() && line(7, 60).is_some());
        assert!((1_000..3_000).filter(|user| line(*user, 60).is_some()).count() <= MOST_USERS);
    }
}
