//! Qualities of service and associations with their limits, as slurmctld holds jobs to them, and
//! users.
//!
//! They are asked of slurmctld and not of slurmdbd: slurmctld has them with user numbers and with
//! the limits of accounts above filled in, shows what is in force also while slurmdbd is away, and
//! is told of a change at once.

use job_types::number::{QosId, UserId};
use job_types::tres::Amounts;
use std::ffi::{c_char, c_void};

use super::Answer;
use crate::bindings::{self, slurmdb_assoc_rec_t, slurmdb_qos_rec_t, slurmdb_user_rec_t};
use crate::client::error::ClientError;
use crate::client::library::libslurm;
use crate::client::list::BorrowedList;
use crate::client::{start, value};

/// Stands for no factor of a quality of service (`NO_VAL`, `INFINITE`): greater ones are no
/// factors.
const GREATEST_FACTOR: f64 = 1e9;

/// `Relative`, since 23.11: its amounts are percentages of what the cluster has, so that only
/// whether there are some is told of them.
const RELATIVE: u32 = 1 << 10;

/// The quality of service of jobs that name none, where no association says another
/// (src/common/assoc_mgr.c, `assoc_mgr_get_default_qos_info`).
const DEFAULT_QOS: &str = "normal";

/// A quality of service. Durations are seconds; `None` is no limit.
#[derive(Debug, Clone, PartialEq)]
pub struct QosRecord {
    /// Slurm's number of the quality of service.
    pub id: QosId,
    /// The name of the quality of service.
    pub name: String,
    /// `OverPartQOS`: the quality of service goes before the partition's.
    pub over_partition_qos: bool,
    /// `PartitionTimeLimit`.
    pub over_partition_time: bool,
    /// `PartitionMaxNodes`.
    pub over_partition_max_nodes: bool,
    /// `PartitionMinNodes`.
    pub over_partition_min_nodes: bool,
    /// `LimitFactor`.
    pub limit_factor: Option<f64>,
    /// `MaxWall`.
    pub max_wall_seconds: Option<i64>,
    /// `GrpWall`.
    pub group_wall_seconds: Option<i64>,
    /// `MaxTRES`.
    pub max_resources: Amounts,
    /// `MaxTRESPerNode`.
    pub max_resources_per_node: Amounts,
    /// `MaxTRESMins`.
    pub max_resource_minutes: Amounts,
    /// `MinTRES`.
    pub min_resources: Amounts,
    /// `GrpTRES`.
    pub group_resources: Amounts,
    /// `GrpTRESMins` and `GrpTRESRunMins`.
    pub group_resource_minutes: [Amounts; 2],
    /// `MaxTRESPerUser` and `MaxTRESPerAccount`.
    pub member_resources: [Amounts; 2],
    /// `MaxTRESRunMinsPerUser` and `MaxTRESRunMinsPerAccount`.
    pub member_resource_minutes: [Amounts; 2],
}

/// An association. Durations are seconds; `None` is no limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AssociationRecord {
    /// The association's number in slurmdbd.
    pub id: u32,
    /// Number of the association above this one; 0 where there is none.
    pub parent: u32,
    /// The user's number; `None` for the association of an account, or where slurmctld's machine
    /// does not know the user.
    pub user_id: Option<UserId>,
    /// The user's name; `None` for the association of an account.
    pub user: Option<String>,
    /// Whether the association is an account's and not a user's.
    pub is_account: bool,
    /// The association's account.
    pub account: String,
    /// The one partition that the association is about, if it is about one.
    pub partition: Option<String>,
    /// Whether the association is the one of the user's jobs that name no account.
    pub is_default: bool,
    /// Number of the default quality of service, where one is set.
    pub default_qos: Option<QosId>,
    /// Numbers of the qualities of service that jobs of the association may use.
    pub allowed_qos: Vec<QosId>,
    /// `MaxWall`, the accounts' above included.
    pub max_wall_seconds: Option<i64>,
    /// `GrpWall`.
    pub group_wall_seconds: Option<i64>,
    /// `MaxTRES`, likewise with the accounts' above.
    pub max_resources: Amounts,
    /// `MaxTRESPerNode`, likewise.
    pub max_resources_per_node: Amounts,
    /// `MaxTRESMins`, likewise.
    pub max_resource_minutes: Amounts,
    /// `MaxTRESRunMins`, likewise.
    pub max_running_minutes: Amounts,
    /// `GrpTRES`.
    pub group_resources: Amounts,
    /// `GrpTRESMins` and `GrpTRESRunMins`.
    pub group_resource_minutes: [Amounts; 2],
}

/// A user with an association.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserRecord {
    /// The user's number; `None` where slurmctld's machine does not know the user.
    pub id: Option<UserId>,
    /// The user's name.
    pub name: String,
    /// Whether the user is an operator or administrator of Slurm (`AdminLevel`).
    pub is_operator: bool,
    /// The account of jobs that name none.
    pub default_account: Option<String>,
}

/// Qualities of service and associations of the cluster; none where it keeps no accounts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Accounts {
    /// The qualities of service.
    pub qos: Vec<QosRecord>,
    /// The associations.
    pub associations: Vec<AssociationRecord>,
    /// The users.
    pub users: Vec<UserRecord>,
}

impl Accounts {
    /// Returns a function that tells which quality of service slurmctld gives a job of an
    /// association that names none: the one that is set there, or else the only one that it may
    /// use, or else the one that is set for the account `root`, or else `normal`.
    pub fn default_qos(&self) -> impl Fn(&AssociationRecord) -> Option<QosId> + use<> {
        let root = self.associations.iter().find(|record| record.is_account && record.account == "root");
        let normal = self.qos.iter().find(|qos| qos.name == DEFAULT_QOS).map(|qos| qos.id);
        let fallback = root.and_then(|root| root.default_qos).or(normal);
        move |record| {
            let only_allowed = match record.allowed_qos.as_slice() {
                [only] => Some(*only),
                _ => None,
            };
            record.default_qos.or(only_allowed).or(fallback)
        }
    }
}

/// The qualities of service, the associations and the users that slurmctld knows. The caller must
/// be root, Slurm's user or an operator, or `PrivateData` may hide some.
///
/// # Errors
/// As [`jobs`](super::jobs).
pub fn accounts() -> Result<Accounts, ClientError> {
    // Before the request is made: libslurm must be there.
    start::initialise()?;
    // SAFETY: numbers and pointers, for which zero is "no condition".
    let mut request: bindings::assoc_mgr_info_request_msg_t = unsafe { std::mem::zeroed() };
    request.flags = bindings::FLAG_ASSOCIATIONS | bindings::FLAG_QOS | bindings::FLAG_USERS;
    let answer = Answer::ask(
        "accounts",
        |libslurm| libslurm.slurm_free_assoc_mgr_info_msg,
        // SAFETY: the request is ours and outlives the call, the place for the answer is ours.
        |place| unsafe { libslurm().slurm_load_assoc_mgr_info(&raw mut request, place) },
    )?;
    let mut accounts = Accounts::default();
    // SAFETY: a live answer, checked not to be null by `ask`; its lists are null or libslurm's.
    let (qos, associations, users) = unsafe { ((*answer.message).qos_list, (*answer.message).assoc_list, (*answer.message).user_list) };
    // SAFETY: as above, and the lists live as long as the answer.
    let (qos, associations, users) = unsafe { (BorrowedList::new(qos), BorrowedList::new(associations), BorrowedList::new(users)) };
    // SAFETY: elements of a list of such records.
    qos.for_each(|record| accounts.qos.extend(unsafe { qos_record(record) }));
    // SAFETY: likewise.
    associations.for_each(|record| accounts.associations.extend(unsafe { association_record(record) }));
    // SAFETY: likewise.
    users.for_each(|record| accounts.users.extend(unsafe { user_record(record) }));
    Ok(accounts)
}

/// # Safety
/// `record` is null or a record of a user whose texts are null or null-terminated.
unsafe fn user_record(record: *mut c_void) -> Option<UserRecord> {
    // SAFETY: the caller's promise.
    let record = unsafe { record.cast::<slurmdb_user_rec_t>().as_ref() }?;
    // SAFETY: the caller's promise, for each of the record's texts.
    let text = |pointer| unsafe { value::owned_text(pointer) };
    Some(UserRecord {
        id: value::number(record.uid).map(UserId),
        name: text(record.name)?,
        is_operator: u32::from(record.admin_level) >= bindings::LEVEL_OPERATOR,
        default_account: text(record.default_acct),
    })
}

/// # Safety
/// `record` is null or a record of a quality of service whose texts are null or null-terminated.
unsafe fn qos_record(record: *mut c_void) -> Option<QosRecord> {
    // SAFETY: the caller's promise.
    let record = unsafe { record.cast::<slurmdb_qos_rec_t>().as_ref() }?;
    let flag = |bit| record.flags & bit != 0;
    let amounts = |list| {
        // SAFETY: the caller's promise, for each of the record's texts.
        let amounts = unsafe { amounts(list) };
        if flag(RELATIVE) { amounts.as_percentages() } else { amounts }
    };
    Some(QosRecord {
        id: QosId(record.id),
        // SAFETY: as above.
        name: unsafe { value::owned_text(record.name) }?,
        over_partition_qos: flag(bindings::FLAG_QOS_OVER_PARTITION),
        over_partition_time: flag(bindings::FLAG_QOS_TIME),
        over_partition_max_nodes: flag(bindings::FLAG_QOS_MAX_NODES),
        over_partition_min_nodes: flag(bindings::FLAG_QOS_MIN_NODES),
        limit_factor: Some(record.limit_factor).filter(|factor| *factor > 0.0 && *factor < GREATEST_FACTOR),
        max_wall_seconds: value::limit_seconds(record.max_wall_pj),
        group_wall_seconds: value::limit_seconds(record.grp_wall),
        max_resources: amounts(record.max_tres_pj),
        max_resources_per_node: amounts(record.max_tres_pn),
        max_resource_minutes: amounts(record.max_tres_mins_pj),
        min_resources: amounts(record.min_tres_pj),
        group_resources: amounts(record.grp_tres),
        group_resource_minutes: [amounts(record.grp_tres_mins), amounts(record.grp_tres_run_mins)],
        member_resources: [amounts(record.max_tres_pu), amounts(record.max_tres_pa)],
        member_resource_minutes: [amounts(record.max_tres_run_mins_pu), amounts(record.max_tres_run_mins_pa)],
    })
}

/// # Safety
/// `record` is null or a record of an association whose texts are null or null-terminated, and
/// whose list of qualities of service is null or one of texts.
unsafe fn association_record(record: *mut c_void) -> Option<AssociationRecord> {
    // SAFETY: the caller's promise.
    let record = unsafe { record.cast::<slurmdb_assoc_rec_t>().as_ref() }?;
    // SAFETY: the caller's promise, for each of the record's texts.
    let text = |pointer| unsafe { value::owned_text(pointer) };
    // SAFETY: likewise.
    let amounts = |list| unsafe { amounts(list) };
    let mut allowed_qos = Vec::new();
    // SAFETY: the caller's promise; the list lives as long as the record.
    unsafe { BorrowedList::new(record.qos_list) }.for_each(|number| {
        // SAFETY: an element of a list of texts.
        let number = unsafe { value::text(number.cast_const().cast()) };
        allowed_qos.extend(number.and_then(|number| number.trim_start_matches('+').parse().ok()).map(QosId));
    });
    Some(AssociationRecord {
        id: record.id,
        parent: record.parent_id,
        user_id: value::number(record.uid).filter(|_uid| !record.user.is_null()).map(UserId),
        user: text(record.user),
        is_account: text(record.user).is_none(),
        account: text(record.acct)?,
        partition: text(record.partition),
        is_default: record.is_def == 1,
        default_qos: value::number(record.def_qos_id).filter(|id| *id != 0).map(QosId),
        allowed_qos,
        max_wall_seconds: value::limit_seconds(record.max_wall_pj),
        group_wall_seconds: value::limit_seconds(record.grp_wall),
        max_resources: amounts(record.max_tres_pj),
        max_resources_per_node: amounts(record.max_tres_pn),
        max_resource_minutes: amounts(record.max_tres_mins_pj),
        max_running_minutes: amounts(record.max_tres_run_mins),
        group_resources: amounts(record.grp_tres),
        group_resource_minutes: [amounts(record.grp_tres_mins), amounts(record.grp_tres_run_mins)],
    })
}

/// The amounts of a list of resources; none of null.
///
/// # Safety
/// `list` is null or null-terminated.
unsafe fn amounts(list: *const c_char) -> Amounts {
    // SAFETY: the caller's promise.
    unsafe { value::text(list) }.map_or_else(Amounts::default, |list| Amounts::read(&list))
}
