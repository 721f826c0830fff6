# shellcheck shell=bash
# What each ci/bench-* does: it builds the program `benchmark` and runs one of its commands.
# Sourced with the name of that command and the script's arguments.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
binaries=${CARGO_TARGET_DIR:-$root/target}/release
build=1
for argument; do
  case $argument in
    --help | -h)
      # Nothing is built for that. What is built already says more.
      [[ ! -x $binaries/benchmark ]] || exec "$binaries/benchmark" "$1" --help
      sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
      exit 0 ;;
    --no-build) build='' ;;
  esac
done
if [[ $build ]]; then
  "$root/ci/packages" || exit 1
  # The whole workspace's, so that libraries have the features with which ci/demo has built them.
  cargo build --quiet --release --workspace --lib --bin queuecast --bin queuecastd --bin benchmark --manifest-path "$root/Cargo.toml" || exit 1
elif [[ ! -x $binaries/benchmark || ! -x $binaries/queuecast || ! -x $binaries/queuecastd ]]; then
  echo "ci/bench-$1: there are no programs in $binaries: leave --no-build out" >&2
  exit 1
fi
exec "$binaries/benchmark" "$@"
