/* Preloaded into a program: its clock goes by as many seconds ahead as the file that SHIFTED_CLOCK names holds, and can be changed while it
   runs. What counts from the start of the machine is left alone, as when a machine's clock is set: a sleep for a duration lasts as long as
   before, and one until a time of the clock ends when the clock has it, however the clock got there (clock_nanosleep(2), NOTES). */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* How often a sleep until a time looks whether the clock was set. */
#define LOOK_NANOSECONDS 50000000L

static long shift(void) {
  const char *path = getenv("SHIFTED_CLOCK");
  char text[32] = {0};
  int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return 0;
  long length = read(file, text, sizeof text - 1);
  close(file);
  return length > 0 ? atol(text) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  int status = (int)syscall(SYS_clock_gettime, clock, now);
  if (status == 0 && clock == CLOCK_REALTIME) now->tv_sec += shift();
  return status;
}

/* Like the function of the C library it returns the error, and does not set errno. */
static int sleep_by_kernel(clockid_t clock, int flags, const struct timespec *time, struct timespec *left) {
  int before = errno;
  int status = syscall(SYS_clock_nanosleep, clock, flags, time, left) == 0 ? 0 : errno;
  errno = before;
  return status;
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *left) {
  if (clock != CLOCK_REALTIME || !(flags & TIMER_ABSTIME)) return sleep_by_kernel(clock, flags, time, left);
  for (;;) {
    struct timespec now, look = {0, LOOK_NANOSECONDS};
    clock_gettime(CLOCK_REALTIME, &now);
    long long until = (time->tv_sec - now.tv_sec) * 1000000000LL + (time->tv_nsec - now.tv_nsec);
    if (until <= 0) return 0;
    if (until < LOOK_NANOSECONDS) look.tv_nsec = until;
    int status = sleep_by_kernel(CLOCK_MONOTONIC, 0, &look, NULL);
    if (status != 0) return status;
  }
}
