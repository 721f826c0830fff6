//! Which parts of the shipped decision a replay has in force, and what its users ask for.

/// What the users of the jobs ask for that may be changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wishes {
    /// That they are deferred where that gains enough (`--auto-defer`), besides being molded.
    pub deferral: bool,
}

/// What of the shipped decision is in force, to see what each part is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parts {
    /// Jobs are made larger where many processors are free. Without it each job is one that asks
    /// for nodes of a certain shape, of which more may not exist.
    pub growth: bool,
    /// Users ask with `--auto-mold`, so that parts of the size as written and its double are tried.
    /// Without it nobody asks and the policy molds all jobs, to sizes that the user ran.
    pub any_size: bool,
    /// Jobs at sizes that their user never ran are changed as well; their run times are forecast
    /// from others like them. The plugin leaves such jobs, because it is published no run times for
    /// them.
    pub first_runs: bool,
    /// There is a plan of the queue. Without it the decision rests on past waits.
    pub plan: bool,
    /// What was decided about a user's jobs since the state was published is counted for their
    /// later ones.
    pub claims: bool,
}

impl Default for Parts {
    fn default() -> Self {
        Self { growth: true, any_size: true, first_runs: false, plan: true, claims: true }
    }
}
