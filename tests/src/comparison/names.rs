//! Numbers for names, as the engine's jobs have them.

/// Names by number.
#[derive(Clone, Debug, Default)]
pub(super) struct Names(Vec<String>);

impl Names {
    /// The number of a name, which is a new one where the name is.
    pub(super) fn number(&mut self, name: &str) -> u32 {
        let known = self.0.iter().position(|known| known == name);
        let place = known.unwrap_or_else(|| {
            self.0.push(name.to_owned());
            self.0.len() - 1
        });
        u32::try_from(place).expect("names are few")
    }
}
