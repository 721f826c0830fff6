# shellcheck shell=bash
# The commands of docs/install.md. Sourced by ci/test-packages, which defines `say` and `fail`, has
# in_machine, and sets what the next line names.
: "${repository=}" "${work=}"

# document_section HEADING KIND: prints the fenced blocks of that kind ("sh" or "sh build") under
# that heading.
document_section() {
  awk -v heading="## $1" -v fence="\`\`\`$2" '
    /^```/ { if (inside) inside = 0; else if (here && $0 == fence) { inside = 1; found = 1; next } }
    /^## / && !inside { here = $0 == heading }
    inside { print }
    END { exit !found }' "$repository/docs/install.md" || fail "docs/install.md has no commands under '$1'"
}

# run_section HEADING: runs these commands in the machine, as root, and prints them with what they
# say. What they say is also in $work/section-said.
run_section() {
  say "docs/install.md: $1"
  document_section "$1" sh >"$work/section"
  sections_run+=("$1")
  if ! in_machine bash -euo pipefail -v -c "$(<"$work/section")" >"$work/section-said" 2>&1 </dev/null; then
    cat "$work/section-said"
    fail "the commands of '$1' failed"
  fi
  sed 's/^/    /' "$work/section-said"
}

# Fails where a section of the document has commands that no run_section has run.
check_sections_run() {
  local heading
  while read -r heading; do
    [[ " ${sections_run[*]/%/;}" == *" $heading;"* ]] || fail "the commands of '$heading' in docs/install.md were not run"
  done < <(awk '/^## / { heading = substr($0, 4) } /^```sh$/ { print heading }' "$repository/docs/install.md" | sort -u)
}
