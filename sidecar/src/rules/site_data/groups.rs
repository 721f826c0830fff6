//! The thread that asks for the UNIX groups of users.
//!
//! The answer may come from a directory service that is slow, or away for hours. Nobody waits for
//! this thread, and what it found out last holds until it finds out something else.

use std::collections::{HashMap, HashSet};
use std::ffi::CString;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam::channel::{Receiver, Sender, TrySendError, bounded};
use job_types::number::UserId;
use nix::unistd::{Gid, Group, User, getgrouplist};

use super::Known;

/// How often the groups of users are asked for again, whose groups are known.
const REFRESH: Duration = Duration::from_secs(600);
/// How long a pass over all users may take before that is told.
const LONG: Duration = Duration::from_secs(300);

/// A user to ask for.
pub(super) type Named = (UserId, String);

/// The thread's ends: what it is to ask for, and what it has found out.
pub(super) struct Resolver {
    requests: Sender<Arc<[Named]>>,
    /// Since when it has been at something.
    busy_since: Option<Instant>,
    is_told: bool,
}

impl Resolver {
    /// Returns the resolver's end of the channel and that of the thread.
    pub(super) fn new() -> (Self, Receiver<Arc<[Named]>>) {
        let (requests, receiver) = bounded(1);
        (Self { requests, busy_since: None, is_told: false }, receiver)
    }

    /// Has the thread look after these users, unless it still does.
    pub(super) fn ask(&mut self, users: &Arc<[Named]>) {
        match self.requests.try_send(Arc::clone(users)) {
            Ok(()) => (self.busy_since, self.is_told) = (Some(Instant::now()), false),
            Err(TrySendError::Full(_)) => {
                let since = *self.busy_since.get_or_insert_with(Instant::now);
                if since.elapsed() > LONG && !self.is_told {
                    self.is_told = true;
                    tracing::warn!(seconds = since.elapsed().as_secs(), "groups of users are slow to be had: rules see those found before");
                }
            }
            Err(TrySendError::Disconnected(_)) => {}
        }
    }
}

/// Asks for the groups of those users that it is given, until nobody gives it more.
pub(super) fn run(requests: &Receiver<Arc<[Named]>>, known: &Known) {
    let mut last_pass: Option<Instant> = None;
    let mut without_answer = HashSet::new();
    for users in requests {
        let refreshes = last_pass.is_none_or(|last| last.elapsed() >= REFRESH);
        if refreshes {
            last_pass = Some(Instant::now());
            without_answer.clear();
            let present: HashSet<UserId> = users.iter().map(|(id, _)| *id).collect();
            known.lock().retain(|id, _| present.contains(id));
        }
        let mut names = HashMap::new();
        for (id, name) in users.iter() {
            let is_new = || !without_answer.contains(id) && !known.lock().contains_key(id);
            if !(refreshes || is_new()) {
                continue;
            }
            match groups_of(*id, name, &mut names) {
                Ok(groups) => drop(known.lock().insert(*id, groups)),
                Err(reason) => {
                    tracing::debug!(name, reason, "groups are not known; those found before hold");
                    without_answer.insert(*id);
                }
            }
        }
    }
}

/// The names of a user's groups, the primary one among them.
///
/// Where the user is not found nothing is known of the groups either: an answer then would be the
/// primary group alone, as the library tells no failures apart from having no further groups.
fn groups_of(id: UserId, name: &str, names: &mut HashMap<Gid, Option<String>>) -> Result<Vec<String>, String> {
    let user = match User::from_name(name) {
        Ok(Some(user)) if user.uid.as_raw() == id.0 => user,
        Ok(Some(_)) => return Err("the name is another user's".to_owned()),
        Ok(None) => return Err("nobody has this name".to_owned()),
        Err(error) => return Err(error.to_string()),
    };
    let text = CString::new(name).map_err(|error| error.to_string())?;
    let numbers = getgrouplist(&text, user.gid).map_err(|error| error.to_string())?;
    let mut groups = Vec::new();
    for number in numbers {
        let group = match names.get(&number) {
            Some(group) => group.clone(),
            None => {
                let group = Group::from_gid(number).map_err(|error| error.to_string())?.map(|group| group.name);
                names.insert(number, group.clone());
                group
            }
        };
        groups.extend(group);
    }
    groups.sort_unstable();
    groups.dedup();
    Ok(groups)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn groups_are_those_that_the_system_tells_and_a_user_who_is_not_found_keeps_those_before() {
        let known = Known::default();
        let gone = UserId(4_000_000_001);
        known.lock().insert(gone, vec!["physics".to_owned()]);
        let root = User::from_uid(0.into()).unwrap().unwrap();
        let users: Arc<[Named]> = [(UserId(0), root.name.clone()), (gone, "nobody-has-this-name".to_owned())].into();
        let (resolver, requests) = Resolver::new();
        let own = Known::clone(&known);
        let thread = thread::spawn(move || run(&requests, &own));
        resolver.requests.send(users).unwrap();
        drop(resolver);
        thread.join().unwrap();
        let known = known.lock();
        let primary = Group::from_gid(root.gid).unwrap().unwrap().name;
        assert!(known[&UserId(0)].contains(&primary), "{known:?}");
        assert_eq!(known[&gone], ["physics"]);
    }

    #[test]
    fn a_name_that_is_another_user_s_is_not_believed() {
        let root = User::from_uid(0.into()).unwrap().unwrap();
        assert!(groups_of(UserId(17), &root.name, &mut HashMap::new()).is_err());
    }
}
