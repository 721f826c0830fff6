//! Parts of several clusters that are had together or not at all. `POST /v1/decision` asks the
//! cluster that decides.

use job_types::cluster_name::is_cluster_name;
use job_types::together::{Decision, Together, Token};
use serde::{Deserialize, Serialize};

use crate::keys::{self, Keys};
use crate::refusal::Refusal;

/// What was decided about parts is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// What the parts are known by.
    #[serde(rename = "together")]
    pub token: Token,
}

/// What was decided about parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decided {
    /// That.
    pub decision: Decision,
}

impl Question {
    /// The keys of a request.
    pub const KEYS: [&str; 1] = ["together"];

    /// Reads a request.
    ///
    /// # Errors
    /// What is wrong with it, by its key.
    pub fn read(bytes: &[u8]) -> Result<Self, Refusal> {
        let token = token_in(&keys::object(bytes, &Self::KEYS)?)?;
        let token = token.ok_or_else(|| Refusal::of_key("together", "this key is needed: what the parts are known by"))?;
        Ok(Self { token })
    }
}

/// What a request says of the parts that it belongs to.
pub(crate) fn together_in(keys: &Keys) -> Result<Option<Together>, Refusal> {
    match (token_in(keys)?, keys::name(keys, "decided_by")?) {
        (None, None) => Ok(None),
        (None, Some(_)) => Err(Refusal::of_key("decided_by", "null where there is no together")),
        (Some(_), Some(name)) if !is_cluster_name(&name) => Err(Refusal::of_key("decided_by", "the name of a cluster, or null")),
        (Some(token), decided_by) => Ok(Some(Together { token, decided_by })),
    }
}

fn token_in(keys: &Keys) -> Result<Option<Token>, Refusal> {
    let text = keys::name(keys, "together")?;
    text.map(|text| text.parse().map_err(|allowed| Refusal::of_key("together", allowed))).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decision_is_asked_for_by_what_the_parts_are_known_by() {
        let question = Question { token: Token::from(7) };
        assert_eq!(Question::read(&serde_json::to_vec(&question).unwrap()).unwrap(), question);
        for text in ["{}", r#"{"together": 7}"#, r#"{"together": "7"}"#, r#"{"together": null}"#] {
            assert_eq!(Question::read(text.as_bytes()).unwrap_err().key.as_deref(), Some("together"), "{text}");
        }
        let decided = serde_json::to_value(Decided { decision: Decision::GivenUp }).unwrap();
        assert_eq!(decided["decision"], "given_up");
    }
}
