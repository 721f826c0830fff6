/*
 * A job_submit plugin that calls another plugin's job_submit from several threads at once, for
 * ci/bench-rules. It runs within slurmctld, where everything is that both plugins need, and is
 * never installed.
 *
 * A submission named "threads:PLUGIN:THREADS:JOBS" is refused with what was measured as the
 * message: how many jobs went through in how many nanoseconds, and how many of them came out as
 * the rules have it. PLUGIN is the path of a plugin that slurmctld has loaded. Each thread has its
 * own descriptions, all made before the clock starts. All other submissions pass.
 *
 * slurmctld itself calls its plugins one after the other, under a lock (job_submit_g_submit in
 * src/interfaces/job_submit.c), which is not taken here.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST_THREADS 64
#define MOST_JOBS 100000

const char plugin_name[] = "Calls plugins from several threads for ci/bench-rules";
const char plugin_type[] = "job_submit/threads";
const uint32_t plugin_version = SLURM_VERSION_NUMBER;

/* Of libslurmfull, which slurmctld is linked with (src/common/xmalloc.h, xstring.h,
 * slurm_protocol_defs.h). */
extern void *slurm_xcalloc(size_t, size_t, bool, bool, const char *, int, const char *);
extern char *slurm_xstrdup(const char *);
extern void slurm_xfree_ptr(void *);
extern void slurm_free_job_desc_msg(job_desc_msg_t *);

typedef int (*submit_t)(job_desc_msg_t *, uint32_t, char **);

struct work {
  submit_t submit;
  pthread_barrier_t *start;
  uint32_t user, group;
  int jobs;
  job_desc_msg_t **descriptions;
  char **messages;
  int refused;
};

int init(void) { return SLURM_SUCCESS; }
void fini(void) {}

/* The submission that ci/bench-rules measures: sbatch --ntasks=2 --chdir=/projects/cfd/run job.sh */
static job_desc_msg_t *describe(uint32_t user, uint32_t group) {
  job_desc_msg_t *job = slurm_xcalloc(1, sizeof(*job), true, false, __FILE__, __LINE__, __func__);

  slurm_init_job_desc_msg(job);
  job->user_id = user;
  job->group_id = group;
  job->num_tasks = 2;
  job->min_cpus = 2;
  job->name = slurm_xstrdup("job.sh");
  job->work_dir = slurm_xstrdup("/projects/cfd/run");
  job->script = slurm_xstrdup("#!/bin/sh\ntrue\n");
  job->alloc_node = slurm_xstrdup("login1");
  return job;
}

static int is_as_the_rules_have_it(const job_desc_msg_t *job, const char *message) {
  return job->partition && !strcmp(job->partition, "long") && job->time_limit == 240 && job->licenses &&
         !strcmp(job->licenses, "fluent:4") && message && strstr(message, "no time limit was given");
}

static void *submit_all(void *argument) {
  struct work *work = argument;

  pthread_barrier_wait(work->start);
  for (int job = 0; job < work->jobs; job++)
    work->refused += work->submit(work->descriptions[job], work->user, &work->messages[job]) != SLURM_SUCCESS;
  return NULL;
}

static uint64_t now_ns(void) {
  struct timespec now;

  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t) now.tv_sec * 1000000000 + (uint64_t) now.tv_nsec;
}

static void measure(const char *path, int threads, int jobs, job_desc_msg_t *asked, char *said, size_t length) {
  void *plugin = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
  submit_t submit = plugin ? (submit_t) dlsym(plugin, "job_submit") : NULL;
  struct work *works = calloc((size_t) threads, sizeof(*works));
  pthread_t *ids = calloc((size_t) threads, sizeof(*ids));
  pthread_barrier_t start;
  uint64_t began, ended;
  int as_named = 0, refused = 0;

  if (!submit || !works || !ids) {
    snprintf(said, length, "slurmctld has not loaded %s", path);
    return;
  }
  pthread_barrier_init(&start, NULL, (unsigned) threads + 1);
  for (int thread = 0; thread < threads; thread++) {
    struct work *work = &works[thread];

    *work = (struct work){.submit = submit, .start = &start, .user = asked->user_id, .group = asked->group_id, .jobs = jobs};
    work->descriptions = calloc((size_t) jobs, sizeof(*work->descriptions));
    work->messages = calloc((size_t) jobs, sizeof(*work->messages));
    for (int job = 0; job < jobs; job++) work->descriptions[job] = describe(work->user, work->group);
    pthread_create(&ids[thread], NULL, submit_all, work);
  }
  pthread_barrier_wait(&start);
  began = now_ns();
  for (int thread = 0; thread < threads; thread++) pthread_join(ids[thread], NULL);
  ended = now_ns();
  for (int thread = 0; thread < threads; thread++) {
    struct work *work = &works[thread];

    refused += work->refused;
    for (int job = 0; job < jobs; job++) {
      as_named += is_as_the_rules_have_it(work->descriptions[job], work->messages[job]);
      slurm_free_job_desc_msg(work->descriptions[job]);
      slurm_xfree_ptr(work->messages[job]);
    }
    free(work->descriptions);
    free(work->messages);
  }
  pthread_barrier_destroy(&start);
  free(works);
  free(ids);
  dlclose(plugin);
  snprintf(said, length, "measured jobs=%d as_named=%d refused=%d ns=%llu", threads * jobs, as_named, refused,
           (unsigned long long) (ended - began));
}

int job_submit(job_desc_msg_t *job, uint32_t user, char **message) {
  char path[1024], said[1200];
  int threads, jobs;

  (void) user;
  if (!job->name || sscanf(job->name, "threads:%1023[^:]:%d:%d", path, &threads, &jobs) != 3) return SLURM_SUCCESS;
  if (threads < 1 || threads > MOST_THREADS || jobs < 1 || jobs > MOST_JOBS)
    snprintf(said, sizeof(said), "too many threads or jobs");
  else
    measure(path, threads, jobs, job, said, sizeof(said));
  *message = slurm_xstrdup(said);
  return SLURM_ERROR;
}

int job_modify(void *asked, void *job, uint32_t user, char **message) {
  (void) asked, (void) job, (void) user, (void) message;
  return SLURM_SUCCESS;
}
