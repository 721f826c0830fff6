//! What is wrong with a file of rules, and where.

use std::fmt;

/// Whether rules can be used in spite of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, strum::Display, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Severity {
    /// The rules can't be used.
    Error,
    /// The rules can be used, but do hardly what is meant.
    Warning,
}

/// Something that is wrong at a place of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Whether it is an error.
    pub severity: Severity,
    /// The file, as it was named.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What is wrong and what was expected.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}: {}", self.file, self.line, self.column, self.severity, self.message)
    }
}

/// Something that is wrong at a place of an expression.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ExpressionError {
    /// How many bytes of the expression stand before the place.
    pub offset: usize,
    /// What is wrong and what was expected.
    pub message: String,
}

/// The line and the column of a place in a text, both from 1.
#[must_use]
pub fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

/// `; did you mean ...?` where one of the known names is much like what was written, or nothing.
#[must_use]
pub fn suggestion<'n>(written: &str, known: impl IntoIterator<Item = &'n str>) -> String {
    closest(written, known).map(|name| format!("; did you mean {name}?")).unwrap_or_default()
}

/// What rules have in the place of a name of Lua's job_submit plugin or of sbatch's options; `None`
/// for another name.
#[must_use]
pub fn of_lua(name: &str) -> Option<&'static str> {
    let (_, ours) = LUA.iter().find(|(lua, _)| *lua == name)?;
    Some(ours)
}

/// Names of Lua's job_submit plugin (src/plugins/job_submit/lua), and of sbatch's options, that
/// rules call otherwise.
const LUA: [(&str, &str); 37] = [
    ("batch_flag", "job.is_batch"),
    ("constraint", "job.features"),
    ("constraints", "job.features"),
    ("cpus_per_gres", "job.cpus_per_tres"),
    ("default_account", "tables.users[user.name].default_account"),
    ("default_qos", "tables.associations[KEY].default_qos"),
    ("exclude", "job.exc_nodes"),
    ("gid", "job.group_id"),
    ("gres", "job.tres_per_node"),
    ("gres_req", "job.tres_per_node"),
    ("hold", "job.is_held"),
    ("job_desc", "job"),
    ("job_name", "job.name"),
    ("job_rec", "current"),
    ("mem", "job.memory_per_node"),
    ("mem_per_cpu", "job.memory_per_cpu"),
    ("min_mem_per_cpu", "job.memory_per_cpu"),
    ("min_mem_per_node", "job.memory_per_node"),
    ("mem_per_node", "job.memory_per_node"),
    ("nodelist", "job.req_nodes"),
    ("nodes", "job.min_nodes and job.max_nodes"),
    ("ntasks", "job.num_tasks"),
    ("ntasks_per_gpu", "job.ntasks_per_tres"),
    ("oversubscribe", "job.shared"),
    ("part_list", "tables.partitions"),
    ("pn_min_memory", "job.memory_per_node or job.memory_per_cpu"),
    ("submit_uid", "user.uid"),
    ("tmp", "job.pn_min_tmp_disk"),
    ("uid", "user.uid"),
    ("user_name", "user.name"),
    ("username", "user.name"),
    ("resv_list", "job.reservation"),
    ("spank_job_env_size", "size(job.spank_job_env)"),
    ("array", "job.array_inx"),
    ("time", "job.time_limit"),
    ("chdir", "job.work_dir"),
    ("signal", "job.warn_signal"),
];

/// The known name that is most like what was written, unless it is a rather different word.
#[must_use]
pub fn closest<'n>(written: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    /// Below it names are rather different words.
    const LIKENESS: f64 = 0.6;
    let closest = known
        .into_iter()
        .map(|name| (strsim::normalized_damerau_levenshtein(written, name), name))
        .max_by(|one, other| one.0.total_cmp(&other.0));
    closest.filter(|(likeness, _)| *likeness >= LIKENESS).map(|(_, name)| name)
}
