//! `[api]`: how hosts that the socket of the daemon does not reach ask it all the same.

use std::fmt;

use serde::de::{Deserialize, Deserializer};

use super::value::not_allowed;

/// The most bytes of a host's name (RFC 1035, section 2.3.4).
const MOST_HOST_BYTES: usize = 253;
/// The most words of a command.
const MOST_WORDS: usize = 64;

/// `[api]`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ApiSettings {
    /// `listen`: where the daemon answers other hosts; `None` for `"off"`.
    pub listen: Option<HostPort>,
    /// `command`: the words of the command that runs `queuecast` on the daemon's host; empty where
    /// there is none.
    pub command: Vec<String>,
}

/// A host, by name or address, and a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostPort {
    /// The name or the address, which of IPv6 is without brackets.
    pub host: String,
    /// The port, from 1.
    pub port: u16,
}

impl HostPort {
    /// Reads `HOST:PORT` or `[ADDRESS]:PORT`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (host, port) = text.rsplit_once(':')?;
        let port = port.parse().ok().filter(|port| *port > 0)?;
        let host = match host.strip_prefix('[') {
            Some(address) => address.strip_suffix(']').filter(|address| address.parse::<std::net::Ipv6Addr>().is_ok())?,
            None => host,
        };
        let is_of_a_name = |character: char| character.is_ascii_alphanumeric() || ['.', '-', '_', ':'].contains(&character);
        let is_bracketed = text.starts_with('[');
        let is_host = !host.is_empty() && host.len() <= MOST_HOST_BYTES && host.chars().all(is_of_a_name);
        (is_host && (is_bracketed || !host.contains(':'))).then(|| Self { host: host.to_owned(), port })
    }

    /// Whether the host stands for all addresses of the machine, so that others need its name.
    #[must_use]
    pub fn is_every_address(&self) -> bool {
        self.host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_unspecified())
    }
}

impl fmt::Display for HostPort {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, port } = self;
        if host.contains(':') { write!(formatter, "[{host}]:{port}") } else { write!(formatter, "{host}:{port}") }
    }
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ApiTable {
    listen: Option<Listen>,
    command: Option<Words>,
}

impl ApiTable {
    pub(super) fn complete(self) -> ApiSettings {
        ApiSettings { listen: self.listen.and_then(|listen| listen.0), command: self.command.map(|command| command.0).unwrap_or_default() }
    }
}

/// A host and a port, or `"off"`.
#[derive(Debug)]
struct Listen(Option<HostPort>);

impl<'de> Deserialize<'de> for Listen {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text == "off" {
            return Ok(Self(None));
        }
        let allowed = r#"a host with a port from 1 to 65535, such as "ctl:9488", "0.0.0.0:9488" or "[::]:9488", or "off""#;
        HostPort::parse(&text).map(|listen| Self(Some(listen))).ok_or_else(|| not_allowed(format_args!("{text:?}"), allowed))
    }
}

/// Words with blanks between them.
#[derive(Debug)]
pub(super) struct Words(pub(super) Vec<String>);

impl<'de> Deserialize<'de> for Words {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let words: Vec<String> = text.split_ascii_whitespace().map(str::to_owned).collect();
        // No shell reads it: whoever writes what only a shell understands expects something else.
        let is_plain = |character: char| !character.is_control() && !"'\"\\$`;&|<>(){}*?~#!".contains(character);
        if words.len() <= MOST_WORDS && text.chars().all(is_plain) {
            Ok(Self(words))
        } else {
            let allowed =
                "words with blanks between them and without quotes and what else a shell would read, such as \"ssh ctl queuecast\"";
            Err(not_allowed(format_args!("{text:?}"), allowed))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_and_a_port_are_read_and_written_alike() {
        for text in ["ctl:9488", "ctl-1.site.org:1", "0.0.0.0:65535", "[::]:9488", "[fe80::1]:9488"] {
            assert_eq!(HostPort::parse(text).unwrap().to_string(), text);
        }
        for text in ["", "ctl", "ctl:", ":9488", "ctl:0", "ctl:65536", "::1:9488", "[ctl]:9488", "[::1:9488", "a b:1", "a/b:1"] {
            assert_eq!(HostPort::parse(text), None, "{text:?}");
        }
        let is_every = |text| HostPort::parse(text).unwrap().is_every_address();
        assert_eq!(["0.0.0.0:1", "[::]:1", "127.0.0.1:1", "ctl:1"].map(is_every), [true, true, false, false]);
    }
}
