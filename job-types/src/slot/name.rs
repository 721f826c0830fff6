//! The names of the reservations that firm slots have, by which they are known after a restart.

use job_types::record::SealKey;

/// What the names begin with.
const PREFIX: &str = "queuecast";
/// What the proof in a name is of.
const KIND: &str = "firm slot";

/// The name of the reservation of a slot. Nobody who lacks the key can make it up: a reservation
/// that somebody else has made is never taken for one of these.
pub(crate) fn of_slot(id: u64, key: &SealKey) -> String {
    format!("{PREFIX}-{id}-{}", key.proof(KIND, id))
}

/// The number of the slot whose reservation has that name; `None` for any other name.
pub(crate) fn slot_of(name: &str, key: &SealKey) -> Option<u64> {
    let (id, _) = name.strip_prefix(PREFIX)?.strip_prefix('-')?.split_once('-')?;
    let id = id.parse().ok()?;
    (of_slot(id, key) == name).then_some(id)
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
    }

    proptest! {
        #[test]
        fn no_name_is_taken_for_another_ones(id in any::<u64>(), text in "(queuecast-)?[0-9+-]{0,6}(-[0-9a-f]{16})?") {
            prop_assert_eq!(slot_of(&of_slot(id, &KEY), &KEY), Some(id));
            prop_assert_eq!(slot_of(&text, &KEY), None);
        }
    }
}
