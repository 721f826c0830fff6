//! What a request from another host carries: a credential of munge over a hash of the request.
//!
//! munge says which user made a credential, and that nobody has changed what is in it. What is in
//! it here is a hash of the one request that it was made for, so that whoever sees a credential on
//! its way, or is given one for something else, can't ask anything else with it.

use sha2::{Digest, Sha256};

/// What credentials of this API are made for, so that no other program's is taken.
const CONTEXT: &str = "queuecast-api-1";
/// The scheme of the header `Authorization`, which is told from others without regard to case (RFC
/// 9110, section 11.1).
pub const SCHEME: &str = "Munge";
/// The most bytes of a credential, which has less than 300.
const MOST_CREDENTIAL_BYTES: usize = 4 << 10;

/// What a credential is made for.
#[derive(Debug, Clone, Copy)]
pub struct Signed<'a> {
    /// `ClusterName` of slurm.conf, whose case counts for nothing, as for Slurm: several clusters
    /// may have one key of munge.
    pub cluster: &'a str,
    /// The method, in capital letters.
    pub method: &'a str,
    /// The path, and the query where there is one, as in the first line of the request.
    pub path: &'a str,
    /// The body.
    pub body: &'a [u8],
}

impl Signed<'_> {
    /// What the credential has to contain: SHA-256, in 64 hexadecimal digits, of the context, the
    /// cluster in small letters, the method, the path and the body, each as a netstring (its length
    /// in decimal digits, a colon, its bytes, a comma).
    #[must_use]
    pub fn digest(&self) -> String {
        let mut hash = Sha256::new();
        let cluster = self.cluster.to_ascii_lowercase();
        for part in [CONTEXT.as_bytes(), cluster.as_bytes(), self.method.as_bytes(), self.path.as_bytes(), self.body] {
            hash.update(format!("{}:", part.len()));
            hash.update(part);
            hash.update(",");
        }
        hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// The value of the header `Authorization` with a credential.
#[must_use]
pub fn authorization(credential: &str) -> String {
    format!("{SCHEME} {credential}")
}

/// The credential in the value of the header `Authorization`; `None` where it holds none that munge
/// could have made: `MUNGE:`, digits in base 64, and a colon (src/libmunge in munge's source).
#[must_use]
pub fn credential_in(authorization: &[u8]) -> Option<&str> {
    let (scheme, credential) = std::str::from_utf8(authorization).ok()?.split_once(' ')?;
    let credential = credential.trim();
    let digits = credential.strip_prefix("MUNGE:")?.strip_suffix(':')?;
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
    let is_one = scheme.eq_ignore_ascii_case(SCHEME) && credential.len() <= MOST_CREDENTIAL_BYTES;
    (is_one && !digits.is_empty() && digits.bytes().all(is_digit)).then_some(credential)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROBE: Signed<'_> = Signed { cluster: "east", method: "POST", path: "/v1/probe", body: b"{}" };

    #[test]
    fn the_hash_is_that_of_the_netstrings() {
        // printf '15:queuecast-api-1,4:east,4:POST,9:/v1/probe,2:{},' | sha256sum
        assert_eq!(PROBE.digest(), "f3b95e8b2073c776c4f40dfc087e7e915df615725bfd5a24d7ac2d21493c7f58");
    }

    #[test]
    fn no_part_may_be_another_and_none_may_reach_into_the_next() {
        let others = [
            Signed { cluster: "west", ..PROBE },
            Signed { cluster: "eas", ..PROBE },
            Signed { method: "GET", ..PROBE },
            Signed { path: "/v1/probe?", ..PROBE },
            Signed { body: b"{ }", ..PROBE },
            Signed { path: "/v1/probe{}", body: b"", ..PROBE },
            Signed { cluster: "", method: "eastPOST", ..PROBE },
            Signed { path: "/v1/probe,2:{},", body: b"", ..PROBE },
        ];
        assert_eq!(Signed { cluster: "East", ..PROBE }.digest(), PROBE.digest());
        let mut digests: Vec<String> = others.iter().chain([&PROBE]).map(Signed::digest).collect();
        digests.sort_unstable();
        digests.dedup();
        assert_eq!(digests.len(), others.len() + 1);
    }

    #[test]
    fn a_credential_is_read_from_the_header_and_nothing_else_is() {
        let header = authorization("MUNGE:AwQFAAC+/x==:");
        assert_eq!(credential_in(header.as_bytes()), Some("MUNGE:AwQFAAC+/x==:"));
        assert_eq!(credential_in(b"munge  MUNGE:AA: "), Some("MUNGE:AA:"));
        let long = format!("Munge MUNGE:{}:", "A".repeat(MOST_CREDENTIAL_BYTES));
        for wrong in [
            &b""[..],
            b"Munge",
            b"Munge ",
            b"Basic MUNGE:AA:",
            b"MungeMUNGE:AA:",
            b"Munge AA",
            b"Munge MUNGE::",
            b"Munge MUNGE:A\0A:",
            b"Munge MUNGE:A A:",
            b"Munge MUNGE:\xff:",
            long.as_bytes(),
        ] {
            assert_eq!(credential_in(wrong), None, "{}", String::from_utf8_lossy(wrong));
        }
    }
}
