# shellcheck shell=bash
# What the benchmarks of submissions share: states of slurmctld to begin from, its plugins, and the
# time that it takes for a submission.
# Sourced by scripts that have sourced bench.sh and set what it sets.
: "${root=}" "${cluster=}" "${daemon=}"

# cancel NAME [USER]: the jobs of that name that wait, of the caller or of that user.
cancel() { scancel --state=PENDING --user="${2:-$(id -un)}" --name="$1"; }

# Waits until another snapshot than the one now is in place, at most $1 seconds; with an argument
# more, sends the daemon that signal first.
await_snapshot() {
  local before deadline=$((SECONDS + $1))
  before=$(stat --format=%i,%y "$cluster/queuecast/snapshot")
  [[ ! ${2-} ]] || kill -s "$2" "$daemon"
  while [[ $(stat --format=%i,%y "$cluster/queuecast/snapshot") == "$before" ]]; do
    require_daemon
    ((SECONDS <= deadline)) || fail "queuecastd published nothing in $1 s"
    sleep 0.1
  done
}

# save_state Q: stops slurmctld and keeps what it has saved, as the state with Q held jobs.
save_state() {
  "$root/ci/cluster" stop "$cluster" slurmctld
  cp -a "$cluster/state" "$cluster/state-$1"
}

# start_from_state Q: starts slurmctld afresh from the state with Q held jobs, without a plugin.
start_from_state() {
  "$root/ci/cluster" stop "$cluster" slurmctld
  rm -rf "$cluster/state"
  cp -a "$cluster/state-$1" "$cluster/state"
  "$root/ci/cluster" configure "$cluster" --job-submit-plugin none
  "$root/ci/cluster" start "$cluster" slurmctld
}

# require_waiting Q: fails unless so many jobs wait.
require_waiting() {
  local waiting
  waiting=$(squeue --noheader --states=PENDING | wc -l)
  ((waiting == $1)) || fail "slurmctld has $waiting waiting jobs instead of $1"
}

# use_plugin PLUGIN: has the slurmctld that runs load that job_submit plugin (or none) in the place
# of the one that it has.
# It stands between two that take the time.
use_plugin() {
  local said wanted=before,$1,after
  [[ $1 != none ]] || wanted=before,after
  "$root/ci/cluster" reconfigure "$cluster" --job-submit-plugin "$wanted"
  said=$(scontrol show config | awk '$1 == "JobSubmitPlugins" { print $3 }')
  [[ $said == "$wanted" ]] || fail "slurmctld runs with JobSubmitPlugins=$said instead of $wanted"
}

# Compiles the two plugins that take the time.
make_stamps() {
  local name
  for name in before after; do
    gcc -O2 -Wall -shared -fPIC -I"${SLURM_INCLUDE_DIR:-/usr/include}" -DSTAMP_NAME="\"$name\"" -DSTAMP_FILE="\"$cluster/stamps\"" \
      -o "$cluster/plugins/job_submit_$name.so" "$root/ci/lib/stamp.c" || fail "ci/lib/stamp.c was not compiled"
  done
}

# The times of the last $1 callbacks, in nanoseconds, one to a line.
last_callbacks() {
  local count
  count=$(od -A n -t u8 -j 8 -N 8 "$cluster/stamps" | xargs)
  od -A n -v -w4 -t u4 -j $((16 + 4 * (count - $1))) -N $((4 * $1)) "$cluster/stamps"
}

# mean_of STATISTICS COUNT: the mean time of a submission in microseconds, as sdiag printed it, of
# as many submissions as there should be.
mean_of() {
  awk -v expected="$2" '
    $1 == "REQUEST_SUBMIT_BATCH_JOB" {
      for (field = 2; field <= NF; field++) {
        split($field, part, ":")
        if (part[1] == "count") count = part[2]
        if (part[1] == "total_time") total = part[2]
      }
    }
    END { if (count != expected) exit 1; printf "%.2f\n", total / count }' <<<"$1"
}
