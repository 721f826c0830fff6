#include <slurm/slurm_version.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <slurm/slurmdb.h>

/* Exported by slurmctld and by libslurm, but not declared in the installed headers (src/common/xmalloc.h, xstring.h). */
extern void *slurm_xcalloc(size_t count, size_t size, bool clear, bool try_malloc, const char *file, int line, const char *function);
extern void slurm_xfree(void **item);
extern char *slurm_xstrdup(const char *text);
/* src/common/log.h */
extern void slurm_info(const char *format, ...);
extern void slurm_error(const char *format, ...);

/* Exported by libslurm: how many bits are set (src/common/bitstring.h). */
extern int32_t slurm_bit_set_count(bitstr_t *bitmap);
/* src/common/read_config.h: the configuration in force in this process. */
extern slurm_conf_t slurm_conf;

/*
 * Flags that the headers write as plain numbers in one release and as calls of a macro in another. bindgen takes only plain numbers from
 * macros, but the value of anything from an enumeration.
 */
enum {
	FLAG_JOB_REQUEUE = JOB_REQUEUE,
	FLAG_JOB_RESIZING = JOB_RESIZING,
	FLAG_JOB_COMPLETING = JOB_COMPLETING,
	FLAG_JOB_REVOKED = JOB_REVOKED,
	FLAG_MAIL_JOB_FAIL = MAIL_JOB_FAIL,
	FLAG_NODE_STATE_DRAIN = NODE_STATE_DRAIN,
	FLAG_NODE_STATE_NO_RESPOND = NODE_STATE_NO_RESPOND,
	FLAG_NODE_STATE_POWERED_DOWN = NODE_STATE_POWERED_DOWN,
	FLAG_NODE_STATE_FAIL = NODE_STATE_FAIL,
	FLAG_NODE_STATE_INVALID_REG = NODE_STATE_INVALID_REG,
	FLAG_PART_DEFAULT = PART_FLAG_DEFAULT,
	FLAG_ASSOCIATIONS = ASSOC_MGR_INFO_FLAG_ASSOC,
	FLAG_QOS = ASSOC_MGR_INFO_FLAG_QOS,
	FLAG_USERS = ASSOC_MGR_INFO_FLAG_USERS,
	LEVEL_OPERATOR = SLURMDB_ADMIN_OPERATOR,
	FLAG_QOS_MIN_NODES = QOS_FLAG_PART_MIN_NODE,
	FLAG_QOS_MAX_NODES = QOS_FLAG_PART_MAX_NODE,
	FLAG_QOS_TIME = QOS_FLAG_PART_TIME_LIMIT,
	FLAG_QOS_OVER_PARTITION = QOS_FLAG_OVER_PART_QOS,
	FLAG_SHOW_ALL = SHOW_ALL,
	FLAG_JOBCOND_DUP = JOBCOND_FLAG_DUP,
	FLAG_JOBCOND_NO_STEP = JOBCOND_FLAG_NO_STEP,
	FLAG_JOBCOND_NO_TRUNC = JOBCOND_FLAG_NO_TRUNC,
	FLAG_PRIORITY_ONLY_GROWS = PRIORITY_FLAGS_INCR_ONLY,
	FLAG_SLURMDB_JOB_NOTSET = SLURMDB_JOB_FLAG_NOTSET,
	FLAG_GRES_DISABLE_BIND = GRES_DISABLE_BIND,
	FLAG_GRES_ENFORCE_BIND = GRES_ENFORCE_BIND,
	FLAG_KILL_INVALID_DEPENDENCY = KILL_INV_DEP,
	FLAG_NO_KILL_INVALID_DEPENDENCY = NO_KILL_INV_DEP,
	FLAG_SPREAD_JOB = SPREAD_JOB,
	FLAG_USE_MIN_NODES = USE_MIN_NODES,
};

/* Flags of reservations. They are apart from the others, as recurrence by the hour needs more than 32 bits. */
enum {
	FLAG_RESERVATION_MAINT = RESERVE_FLAG_MAINT,
	FLAG_RESERVATION_FLEX = RESERVE_FLAG_FLEX,
	FLAG_RESERVATION_RECURRING =
		RESERVE_FLAG_HOURLY | RESERVE_FLAG_DAILY | RESERVE_FLAG_WEEKLY | RESERVE_FLAG_WEEKDAY | RESERVE_FLAG_WEEKEND,
	FLAG_RESERVATION_PURGE_COMP = RESERVE_FLAG_PURGE_COMP,
	FLAG_RESERVATION_NO_HOLD_JOBS = RESERVE_FLAG_NO_HOLD_JOBS,
	FLAG_RESERVATION_IGNORE_JOBS = RESERVE_FLAG_IGN_JOBS,
	FLAG_RESERVATION_OVERLAP = RESERVE_FLAG_OVERLAP,
	FLAG_RESERVATION_SPEC_NODES = RESERVE_FLAG_SPEC_NODES,
	FLAG_RESERVATION_REPLACE = RESERVE_FLAG_REPLACE,
	FLAG_RESERVATION_REPLACE_DOWN = RESERVE_FLAG_REPLACE_DOWN,
	FLAG_RESERVATION_ANY_NODES = RESERVE_FLAG_ANY_NODES,
};

/* Flags of jobs that only some releases have, 0 where there is none. They are apart from the others, as they need more than 32 bits. */
enum {
	LATE_FLAG_NONE = 0,
#ifdef GRES_ONE_TASK_PER_SHARING
	LATE_FLAG_GRES_ONE_TASK_PER_SHARING = GRES_ONE_TASK_PER_SHARING,
#else
	LATE_FLAG_GRES_ONE_TASK_PER_SHARING = 0,
#endif
#ifdef GRES_ALLOW_TASK_SHARING
	LATE_FLAG_GRES_ALLOW_TASK_SHARING = GRES_ALLOW_TASK_SHARING,
#else
	LATE_FLAG_GRES_ALLOW_TASK_SHARING = 0,
#endif
#ifdef STEPMGR_ENABLED
	LATE_FLAG_STEPMGR_ENABLED = STEPMGR_ENABLED,
#else
	LATE_FLAG_STEPMGR_ENABLED = 0,
#endif
#ifdef SPREAD_SEGMENTS
	LATE_FLAG_SPREAD_SEGMENTS = SPREAD_SEGMENTS,
#else
	LATE_FLAG_SPREAD_SEGMENTS = 0,
#endif
#ifdef CONSOLIDATE_SEGMENTS
	LATE_FLAG_CONSOLIDATE_SEGMENTS = CONSOLIDATE_SEGMENTS,
#else
	LATE_FLAG_CONSOLIDATE_SEGMENTS = 0,
#endif
};
