# shellcheck shell=bash
# The tests that meet Slurm, one set for each release, each in a directory of its own: so that sets
# can run side by side, and while cargo builds the next in its target directory. Sourced by ci/test,
# which sets what the next line names.
: "${here=}" "${target=}" "${failed=}"

# Whose tests meet Slurm: what is on the border with it, and the tests of the whole on a cluster.
border=(slurm-sys submit-filter spank-plugin tests)
# The programs among them that take minutes.
longest=(guard changes daemon joint daemon_attacks spank deadline_report command_line queue shares cluster
  burst filter deadline_order reserved_time reservations slurm_comparison daemon_time documentation
  ordinary_user doctor deadline_faults takeover slurm_user)
# Those that meet no Slurm, or of it only what each release does alike: they run on the machine's
# own.
any_release=(documentation_content module_circles line_width scripts daemon_time deadline_faults)
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
      for file in "$crate"/tests/*.rs; do
        file=$(basename "$file" .rs)
        [[ " ${any_release[*]} " == *" $file "* ]] || targets+=(--test "$file")
      done
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

# The command under which programs run with RELEASE's Slurm, in `under`.
run_under() {
  under=()
  [[ $1 == own ]] || under=("$here/with-slurm" "$1")
}

# run_staged RELEASE [FILTER]: begins to run them, in the background. Most of them wait, so that
# there are more of them beside each other than processors.
run_staged() {
  local release=$1 under
  run_under "$release"
  run_all "$target/staged/$release/tests" 4 "${under[@]}" -- "${@:2}" >"$target/staged/$release/log" 2>&1 &
  running[$release]=$!
}

# run_all LIST COUNT [COMMAND...] -- [FILTER]: the test programs of the list under the command,
# COUNT beside each other; what each printed comes when it has ended. LIST.failed lists those that
# failed. Fails if there are any.
run_all() {
  local list=$1 count=$2 under=() manifest program current=0 begin=$SECONDS
  shift 2
  while [[ $1 != -- ]]; do
    under+=("$1")
    shift
  done
  shift
  : >"$list.failed"
  : >"$list.ended"
  while read -r manifest program <&3; do
    if ((current == count)); then
      wait -n
      current=$((current - 1))
    fi
    run_program "$list" "$manifest" "$program" "$@" 3<&- &
    current=$((current + 1))
  done 3< <(longest_first "$list")
  wait
  echo "Ended after $((SECONDS - begin)) s"
  all_ended "$list" && [[ ! -s $list.failed ]]
}

# run_program LIST MANIFEST PROGRAM [FILTER]: one of them, for the two beside this, under `under`.
run_program() {
  local list=$1 manifest=$2 program=$3 output passed=1 clusters=()
  # The tests on clusters are ignored where nothing else is said, because they need root.
  [[ $manifest != */tests || $EUID != 0 ]] || clusters=(--include-ignored)
  output=$(mktemp)
  (cd "$manifest" && "${under[@]}" "$program" "${clusters[@]}" "${@:4}") </dev/null >"$output" 2>&1 || passed=
  {
    flock 4
    echo "     Running ${program##*/}"
    cat "$output"
    echo "$program" >>"$list.ended"
    if [[ ! $passed ]]; then
      echo "Failed: ${program##*/}"
      echo "$manifest $program" >>"$list.failed"
    fi
  } 4>"$list.lock"
  rm -f "$output"
}

# all_ended LIST: fails unless every program of the list was run to its end, whatever came of it: on
# a full disk, say, the shell that runs one may end before it.
all_ended() {
  [[ -e $1.ended ]] && (($(sort -u "$1.ended" | wc -l) == $(wc -l <"$1"))) && return
  echo "Failed: not every program of $1 was run to its end"
  return 1
}

# run_again RELEASE [FILTER]: the staged programs that failed, each once more and by itself: with a
# dozen clusters on the machine a job may wait longer than a test allows. What fails by itself as
# well has failed. What passes only by itself is told, and counted in the summary.
run_again() {
  local release=$1 list=$target/staged/$1/tests under manifest program
  # What failed is to be seen at the end of a long output.
  local -x RUST_BACKTRACE=0
  run_under "$release"
  mv "$list.failed" "$list.again"
  : >"$list.failed"
  while read -r manifest program <&3; do
    echo "Once more, by itself: ${program##*/}"
    run_program "$list" "$manifest" "$program" "${@:2}" 3<&-
  done 3<"$list.again"
  [[ ! -s $list.failed ]]
}

# The lines of a list, those of the programs that take minutes before the others, so that none of
# them is left over at the end.
longest_first() {
  local name
  for name in "${longest[@]}"; do grep -E "/$name-[0-9a-f]+\$" "$1" || true; done
  grep -vE "/($(IFS='|' && echo "${longest[*]}"))-[0-9a-f]+\$" "$1" || true
}

# finish_staged [FILTER]: waits for all that run, and prints what they printed. Then it runs once
# more what failed, and prints one line for each release.
finish_staged() {
  local release name log
  for release in "${!running[@]}"; do
    # What failed is run again below. What never ran would not be missed there.
    wait "${running[$release]}" || all_ended "$target/staged/$release/tests" || failed=1
    sed "s/^/[$release] /" "$target/staged/$release/log"
  done
  for release in "${!running[@]}"; do
    log=$target/staged/$release/log
    run_again "$release" "$@" >"$log.again" 2>&1 || failed=1
    sed "s/^/[$release] /" "$log.again"
    cat "$log.again" >>"$log"
  done
  for release in "${!running[@]}"; do
    name=$release
    [[ $release != own ]] || name=$(slurmctld -V | sed 's/.* //')
    summarise "Slurm $name" <"$target/staged/$release/log"
  done
}

# summarise WHAT: what test programs printed, in one line. A program that was run once more counts
# as it ended then. A test that found that it had to be skipped has passed for cargo; it is counted
# as skipped where its output is shown.
summarise() {
  awk -v what="$1" '
    /^     Running / { program++; name[program] = $2 }
    /^Once more, by itself: / { again = again (again ? ", " : "; once more, by itself: ") $NF
      for (p in name) if (name[p] == $NF) passed[p] = failed[p] = skipped[p] = 0 }
    /^test result:/ { passed[program] += $4; failed[program] += $6; skipped[program] += $8 }
    /^skipped: / { passed[program]--; skipped[program]++ }
    /^Ended after / { seconds = ", in " $3 " s" }
    END {
      for (p in passed) { all_passed += passed[p]; all_failed += failed[p]; all_skipped += skipped[p] }
      printf "%s: %d passed, %d failed, %d skipped%s%s\n", what, all_passed, all_failed, all_skipped, seconds, again
    }'
}
