# shellcheck shell=bash
# The tests that meet Slurm, one set for each release, each in a directory of its own: so that sets
# can run side by side, and while cargo builds the next in its target directory. Sourced by ci/test,
# which sets what the next line names.
: "${here=}" "${target=}" "${failed=}"

# Whose tests meet Slurm: what is on the border with it, and the tests of the whole on a cluster.
border=(slurm-sys submit-filter spank-plugin tests)
# The programs among them that take minutes.
longest=(changes daemon joint daemon_attacks spank deadline_report command_line queue shares cluster
  burst filter deadline_order reserved_time reservations slurm_comparison daemon_time documentation
  ordinary_user doctor deadline_faults takeover slurm_user)
declare -A running=()
own_headers=${SLURM_INCLUDE_DIR-}

own_release() { slurmctld -V | sed -E 's/.* ([0-9]+\.[0-9]+)\..*/\1/'; }

# Sets the environment of builds for RELEASE: the headers, and the library beside them. `own` is the
# machine's.
build_for() {
  export SLURM_INCLUDE_DIR=$own_headers
  [[ $1 == own ]] || SLURM_INCLUDE_DIR=$("$here/with-slurm" "$1" --root)/usr/include
  [[ $SLURM_INCLUDE_DIR ]] || unset SLURM_INCLUDE_DIR
}

# stage RELEASE: builds programs, plugins and the tests that meet Slurm, and copies them where the
# next build does not reach them. For `own` all tests are built, and $target/staged/own/rest names
# the others. Everything is built by commands of one shape, so that cargo makes each dependency
# once.
stage() {
  local stage=$target/staged/$1 targets=(--lib --bins) manifest program crate file
  build_for "$1"
  rm -rf "$stage"
  mkdir -p "$stage/deps"
  if [[ $1 == own ]]; then
    targets+=(--tests)
  else
    for crate in "${border[@]}"; do
      for file in "$crate"/tests/*.rs; do targets+=(--test "$(basename "$file" .rs)"); done
    done
  fi
  nice cargo build --workspace "${targets[@]}" --message-format json-render-diagnostics |
    sed -nE 's/.*"manifest_path":"([^"]*)\/Cargo\.toml".*"profile":\{[^}]*"test":true\}.*"executable":"([^"]*)".*/\1 \2/p' >"$stage/built"
  find "$target/debug" -maxdepth 1 -type f \( -perm -u+x -o -name 'lib*.so' \) -exec cp -t "$stage" {} +
  while read -r manifest program; do
    if [[ " ${border[*]} " == *" ${manifest##*/} "* ]]; then
      cp "$program" "$stage/deps/"
      echo "$manifest $stage/deps/${program##*/}"
    else
      echo "$manifest $program" >&3
    fi
  done <"$stage/built" >"$stage/tests" 3>"$stage/rest"
  [[ -s $stage/tests ]] || { echo "ci/test: cargo named no tests" >&2; exit 1; }
}

# run_staged RELEASE [FILTER]: begins to run them, in the background.
run_staged() {
  local release=$1 under=()
  [[ $release == own ]] || under=("$here/with-slurm" "$release")
  run_all "$target/staged/$release/tests" "${under[@]}" -- "${@:2}" >"$target/staged/$release/log" 2>&1 &
  running[$release]=$!
}

# run_all LIST [COMMAND...] -- [FILTER]: the test programs of the list under the command, two beside
# each other, because most of them wait; what each printed comes when it has ended. Fails if one
# fails.
run_all() {
  local list=$1 under=() manifest program current=0 status=0 begin=$SECONDS outputs
  shift
  while [[ $1 != -- ]]; do
    under+=("$1")
    shift
  done
  shift
  outputs=$(mktemp -d)
  while read -r manifest program <&3; do
    if ((current == 2)); then
      wait -n || status=1
      current=$((current - 1))
    fi
    run_program "$manifest" "$program" "$@" 3<&- &
    current=$((current + 1))
  done 3< <(longest_first "$list")
  while ((current)); do
    wait -n || status=1
    current=$((current - 1))
  done
  rm -rf "$outputs"
  echo "Ended after $((SECONDS - begin)) s"
  return "$status"
}

# run_program MANIFEST PROGRAM [FILTER]: one of them, for run_all.
run_program() {
  local manifest=$1 program=$2 output=$outputs/${2##*/} status=0
  shift 2
  (cd "$manifest" && "${under[@]}" "$program" "$@") </dev/null >"$output" 2>&1 || status=1
  {
    flock 4
    echo "     Running ${program##*/}"
    cat "$output"
    ((status == 0)) || echo "failed: ${program##*/}"
  } 4>"$outputs/lock"
  return "$status"
}

# The lines of a list, those of the programs that take minutes before the others, so that none of
# them is left over at the end.
longest_first() {
  local name
  for name in "${longest[@]}"; do grep -E "/$name-[0-9a-f]+\$" "$1" || true; done
  grep -vE "/($(IFS='|' && echo "${longest[*]}"))-[0-9a-f]+\$" "$1" || true
}

# Waits for all that run, and prints what they printed, and one line for each release at the end.
finish_staged() {
  local release name
  for release in "${!running[@]}"; do
    wait "${running[$release]}" || failed=1
    sed "s/^/[$release] /" "$target/staged/$release/log"
  done
  for release in "${!running[@]}"; do
    name=$release
    [[ $release != own ]] || name=$(slurmctld -V | sed 's/.* //')
    summarise "Slurm $name" <"$target/staged/$release/log"
  done
}

# summarise WHAT: what test programs printed, in one line. A test that found that it had to be
# skipped has passed for cargo; it is counted as skipped where its output is shown.
summarise() {
  awk -v what="$1" '
    /^test result:/ { passed += $4; failed += $6; skipped += $8 }
    /^skipped: / { passed--; skipped++ }
    /^Ended after / { seconds = ", in " $3 " s" }
    END { printf "%s: %d passed, %d failed, %d skipped%s\n", what, passed, failed, skipped, seconds }'
}
