//! The names of the reservations that firm slots have, by which they are known after a restart.

use crate::record::SealKey;

/// What the names begin with.
const PREFIX: &str = "queuecast";
/// What the proof in a name is of.
const KIND: &str = "firm slot";

/// The name of the reservation of a slot. Nobody who lacks the key can make it up: a reservation
/// that somebody else has made is never taken for one of these.
#[must_use]
pub fn of_slot(id: u64, key: &SealKey) -> String {
    format!("{PREFIX}-{id}-{}", key.proof(KIND, id))
}

/// The number of the slot whose reservation has that name; `None` for any other name.
#[must_use]
pub fn slot_of(name: &str, key: &SealKey) -> Option<u64> {
    let (id, _) = name.strip_prefix(PREFIX)?.strip_prefix('-')?.split_once('-')?;
    let id = id.parse().ok()?;
    (of_slot(id, key) == name).then_some(id)
}

/// Whether a name looks like that of a slot's reservation, to whoever has no key to tell.
#[must_use]
pub fn may_be_of_slot(name: &str) -> bool {
    let parts = name.strip_prefix(PREFIX).and_then(|rest| rest.strip_prefix('-')?.split_once('-'));
    parts.is_some_and(|(id, proof)| id.parse::<u64>().is_ok() && proof.len() == 16 && proof.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const KEY: SealKey = SealKey::new([7; 16]);

    #[test]
    fn a_name_is_known_by_whoever_has_the_key_and_made_up_by_nobody_else() {
        let name = of_slot(41, &KEY);
        assert!(name.starts_with("queuecast-41-") && name.len() == "queuecast-41-".len() + 16, "{name}");
        assert_eq!(slot_of(&name, &KEY), Some(41));
        let other = of_slot(41, &SealKey::new([8; 16]));
        let of_another = name.replace("-41-", "-42-");
        for forged in [&*other, &of_another, &format!("{name} "), "queuecast-41-", "queuecast-041-", "a b;c/../x", ""] {
            assert_eq!(slot_of(forged, &KEY), None, "{forged}");
        }
        assert!(may_be_of_slot(&name) && may_be_of_slot(&other) && !may_be_of_slot("queuecast-41-") && !may_be_of_slot("maintenance"));
    }

    proptest! {
        #[test]
        fn no_name_is_taken_for_another_ones(id in any::<u64>(), text in "(queuecast-)?[0-9+-]{0,6}(-[0-9a-f]{16})?") {
            prop_assert_eq!(slot_of(&of_slot(id, &KEY), &KEY), Some(id));
            prop_assert_eq!(slot_of(&text, &KEY), None);
        }
    }
}
