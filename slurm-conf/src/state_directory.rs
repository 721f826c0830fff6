//! The names of the files in the state directory (`state_directory` of `queuecast.toml`), and the
//! envelopes of those that several programs read.

use crate::envelope::Envelope;

/// The snapshot, for the command line and for a filter that can't have the daemon's memory.
pub const SNAPSHOT: &str = "snapshot";

/// Says where in the daemon's memory the snapshot is.
pub const HAND_OVER: &str = "snapshot-memory";

/// The snapshot without what is single users', where users' jobs are private.
pub const PUBLIC_SNAPSHOT: &str = "snapshot-public";

/// The socket of the daemon's API.
pub const API: &str = "api-socket";

/// What the daemon has learnt, for itself alone.
pub const LEARNT: &str = "learnt";

/// The firm slots that there are, for the daemon alone.
pub const FIRM_SLOTS: &str = "firm-slots.json";

/// What would have been reserved for jobs that ask for a firm slot in a mode that makes none, as
/// JSON.
pub const OBSERVED_SLOTS: &str = "observed-slots.json";

/// What the filters have counted.
pub const COUNTERS: &str = "filter-counters";

/// The envelope of [`COUNTERS`].
pub const COUNTERS_ENVELOPE: Envelope = Envelope::new(*b"QCCOUNTS", 4, 1 << 16);

/// Counts of the submissions that were refused for their deadlines, by user.
pub const REFUSALS: &str = "refused-deadlines";

/// The envelope of [`REFUSALS`].
pub const REFUSALS_ENVELOPE: Envelope = Envelope::new(*b"QCREFUSE", 2, 16 << 20);

/// What the guard has found, as JSON.
pub const GUARD: &str = "guard.json";

/// The kill switch: while it exists the filter leaves every job alone.
pub const KILL_SWITCH: &str = "off";

/// The site's own rules, compiled.
pub const RULES: &str = "rules";

/// What became of the rules when they were last compiled, and which are in force.
pub const RULES_STATE: &str = "rules-state";

/// Qualities of service, associations and users, which rules look up.
pub const RULES_TABLES: &str = "rules-tables";

/// What was counted of each rule.
pub const RULE_COUNTERS: &str = "rule-counters";

/// The envelope of [`RULE_COUNTERS`].
pub const RULE_COUNTERS_ENVELOPE: Envelope = Envelope::new(*b"QCRCOUNT", 2, 4 << 20);

/// The rules that the filter took up last, which it keeps for where [`RULES`] can't be used when
/// slurmctld starts.
pub const RULES_IN_FORCE: &str = "rules-in-force";

/// What rules can ask about users and jobs: operators, groups, and jobs that pend or run.
pub const RULES_DATA: &str = "rules-data";

/// The kill switch of rules: while it exists no rule is applied.
pub const RULES_OFF: &str = "rules-off";

/// Held locked by the daemon whose directory it is.
pub const LOCK: &str = "lock";

/// The key of the seals of records, for Slurm's user alone.
pub const RECORD_KEY: &str = "record-key";
