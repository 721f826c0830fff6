# shellcheck shell=bash
# What the benchmarks of ci/ share: the build, a private cluster that goes away with the script, the
# daemon on it, and small sums.
# Sourced by scripts that set what the next line names; `script` is the name that messages begin
# with.
: "${root=}" "${script=}" "${build=}"

fail() { echo "$script: $1" >&2; exit 1; }
fail_usage() { echo "$script: $1" >&2; exit 2; }
usage() { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; }
say() { echo "$script: $1" >&2; }

# Sets `number` to $2, the value of option $1, a whole number from $3 to $4.
read_number() {
  if ! [[ $2 =~ ^[1-9][0-9]{0,8}$ ]] || (($2 < $3 || $2 > $4)); then fail_usage "$1: '$2' is not a whole number from $3 to $4"; fi
  # shellcheck disable=SC2034 # read by the script
  number=$2
}

read_format() { [[ $1 == text || $1 == json ]] || fail_usage "--format: '$1' is neither text nor json"; }

# Sets `binaries` to where the built programs are, and builds them unless --no-build was given.
build_release() {
  # What the programs say as JSON is read with it.
  command -v jq >/dev/null || "$root/ci/packages" --only jq || exit 1
  binaries=${CARGO_TARGET_DIR:-$root/target}/release
  [[ $binaries == /* ]] || binaries=$PWD/$binaries
  if [[ ! $build ]]; then
    [[ -x $binaries/queuecastd && -x $binaries/queuecast ]] || fail "there are no programs in $binaries: leave --no-build out"
    return 0
  fi
  "$root/ci/packages" || exit 1
  # The whole workspace's, so that libraries have the features with which ci/demo has built them.
  (cd "$root" && cargo build --quiet --release --workspace --lib --bin queuecast --bin queuecastd) || fail "the build failed"
}

# As root: lets this shell and all that it starts run before ordinary processes, so that what else
# the machine does has little part in the figures.
take_precedence() { chrt --rr --pid 1 "$$" 2>/dev/null || true; }

# start_cluster OPTION ...: a private cluster with these options of `ci/cluster up`, in the new
# directory `cluster`. It is stopped and removed when the script ends. Where the script has set
# `keep` to a directory it is made there and only stopped, and one that is there comes back with its
# slurmdbd and without its jobs. This shell and what it starts are clients of it and of no other.
start_cluster() {
  local name
  cluster='' daemon=''
  # What the caller's own jobs, profile or service manager left in the environment would change the
  # submissions and the daemon.
  for name in "${!SLURM@}" "${!SBATCH_@}" "${!QUEUECAST_@}" NOTIFY_SOCKET WATCHDOG_USEC; do unset "$name"; done
  trap 'finish $?' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  if [[ ${keep-} ]]; then
    mkdir -p "$keep"
    cluster=$(cd "$keep" && pwd -P)
    rm -rf --one-file-system "${cluster:?}"/{state,queuecast,spool}
  else
    cluster=$(mktemp -d "${TMPDIR:-/tmp}/qc-bench-XXXXXX")
  fi
  # The database's user and the jobs' users pass through it.
  chmod 755 "$cluster"
  "$root/ci/cluster" up "$cluster" "$@" 2>"$cluster.up" || { cat "$cluster.up" >&2; fail "the cluster did not start"; }
  eval "$("$root/ci/cluster" env "$cluster")"
}

finish() {
  trap - EXIT INT TERM HUP
  stop_daemon
  if [[ $cluster && ${keep-} ]]; then
    "$root/ci/cluster" down "$cluster" >/dev/null 2>&1 || true
    rm -f "$cluster.up"
  elif [[ $cluster ]]; then
    "$root/ci/cluster" down "$cluster" --remove >/dev/null 2>&1 || true
    rm -rf --one-file-system "$cluster" "$cluster.up"
  fi
  exit "$1"
}

# Starts queuecastd; its log is added to log/queuecastd.log of the cluster. `daemon` is its process.
start_daemon() {
  "$binaries/queuecastd" >/dev/null 2>>"$cluster/log/queuecastd.log" &
  daemon=$!
}

stop_daemon() {
  [[ $daemon ]] || return 0
  # It may be paused.
  if kill "$daemon" 2>/dev/null; then kill -s CONT "$daemon" 2>/dev/null || true; fi
  wait "$daemon" 2>/dev/null || true
  daemon=''
}

require_daemon() {
  kill -0 "$daemon" 2>/dev/null && return 0
  tail -n 15 "$cluster/log/queuecastd.log" >&2
  fail "queuecastd ended"
}

# The median of numbers, one number to a line.
median() { sort -g | awk '{ n[NR] = $1 } END { printf "%.1f\n", NR % 2 ? n[(NR + 1) / 2] : (n[NR / 2] + n[NR / 2 + 1]) / 2 }'; }
# quartile K: the first or the third quartile, as the nearest of the numbers.
quartile() { sort -g | awk -v k="$1" '{ n[NR] = $1 } END { place = int((NR - 1) * k / 4 + 0.5) + 1; printf "%.1f\n", n[place] }'; }

# is_less A B: of two decimal numbers.
is_less() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a < b) }'; }
