/*
 * A job_submit plugin that takes the time, for ci/bench-rules and ci/bench-submit: loaded before
 * and after another plugin (JobSubmitPlugins=before,lua,after) it tells how long slurmctld was in
 * the other's callback. It is never installed.
 *
 * Compiled twice, with STAMP_NAME "before" and "after", and with STAMP_FILE, a file that both
 * share: the time at which the present callback began, in nanoseconds; how many have ended; and
 * how long each took, in nanoseconds. slurmctld calls its plugins one after the other
 * (src/interfaces/job_submit.c), and the benchmark submits one job after the other, so that no two
 * write at once.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define MOST_STAMPS 1048576

const char plugin_name[] = "Takes the time for ci/bench-rules and ci/bench-submit";
const char plugin_type[] = "job_submit/" STAMP_NAME;
const uint32_t plugin_version = SLURM_VERSION_NUMBER;

struct stamps {
  uint64_t began_ns;
  uint64_t count;
  uint32_t took_ns[MOST_STAMPS];
};

static struct stamps *stamps;

int init(void) {
  int file = open(STAMP_FILE, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  void *mapped = MAP_FAILED;

  if (file < 0) return SLURM_ERROR;
  if (ftruncate(file, sizeof(struct stamps)) == 0)
    mapped = mmap(NULL, sizeof(struct stamps), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (mapped == MAP_FAILED) return SLURM_ERROR;
  stamps = mapped;
  return SLURM_SUCCESS;
}

void fini(void) {
  if (stamps) munmap(stamps, sizeof(struct stamps));
  stamps = NULL;
}

static uint64_t now_ns(void) {
  struct timespec now;

  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t) now.tv_sec * 1000000000 + (uint64_t) now.tv_nsec;
}

int job_submit(void *job, uint32_t user, char **message) {
  (void) job, (void) user, (void) message;
  if (strcmp(STAMP_NAME, "before") == 0) {
    stamps->began_ns = now_ns();
  } else if (stamps->count < MOST_STAMPS) {
    stamps->took_ns[stamps->count] = (uint32_t) (now_ns() - stamps->began_ns);
    stamps->count++;
  }
  return SLURM_SUCCESS;
}

int job_modify(void *asked, void *job, uint32_t user, char **message) {
  (void) asked, (void) job, (void) user, (void) message;
  return SLURM_SUCCESS;
}
