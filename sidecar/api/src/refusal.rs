//! Why a request was not answered.

use serde::{Deserialize, Serialize};

/// Why a request was not answered, as the body of the response.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// The reason, as a sentence.
    pub error: String,
    /// The key of the request that is wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// What is allowed there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed: Option<String>,
    /// After how many seconds it may be asked again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_s: Option<u64>,
}

impl Refusal {
    /// A refusal with nothing but its reason.
    #[must_use]
    pub fn because(error: impl Into<String>) -> Self {
        Self { error: error.into(), ..Self::default() }
    }

    /// A refusal of what stands at a key.
    #[must_use]
    pub fn of_key(key: &str, allowed: impl Into<String>) -> Self {
        let allowed = allowed.into();
        Self { error: format!("{key}: {allowed}"), key: Some(key.to_owned()), allowed: Some(allowed), ..Self::default() }
    }
}
