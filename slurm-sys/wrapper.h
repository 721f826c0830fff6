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
