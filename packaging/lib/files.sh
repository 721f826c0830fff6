# shellcheck shell=bash
# The files that the packages hold. Sourced by build-deb and build-rpm, which define `fail` and set
# what the next line names.
: "${repository=}"

# The version of queuecast, from the workspace's Cargo.toml.
queuecast_version() { sed -nE '/^\[workspace\.package\]/,/^\[/s/^version = "([^"]+)"/\1/p' "$repository/Cargo.toml"; }

# build_programs ROOT: builds programs and plugins against the headers of the root's Slurm. Sets
# `binaries`.
build_programs() {
  local environment=()
  [[ $1 == / ]] || environment=(SLURM_INCLUDE_DIR="$1/usr/include")
  (cd "$repository" && env "${environment[@]}" cargo build --release --workspace --lib --bin queuecast --bin queuecastd) || fail "the build failed"
  binaries=${CARGO_TARGET_DIR:-$repository/target}/release
}

# stage_files IMAGE PLUGIN_DIRECTORY ZSH_DIRECTORY: puts everything that either package holds where
# it belongs below IMAGE, but for what the distributions' own tools put there.
stage_files() {
  local image=$1 plugins=$1$2 zsh=$1$3 documentation=$1/usr/share/doc/queuecast name made
  for name in queuecast queuecastd libjob_submit_queuecast.so libspank_queuecast.so; do
    [[ -r $binaries/$name ]] || fail "there is no $binaries/$name"
  done
  for name in job_submit_queuecast spank_queuecast; do
    check_plugin "$binaries/lib$name.so"
    install -D -m 644 "$binaries/lib$name.so" "$plugins/$name.so"
  done
  install -D -m 755 "$binaries/queuecast" "$image/usr/bin/queuecast"
  install -D -m 755 "$binaries/queuecastd" "$image/usr/sbin/queuecastd"
  install -D -m 644 "$repository/etc/queuecast.toml" "$image/etc/slurm/queuecast.toml"

  made=$(mktemp -d)
  "$binaries/queuecast" documentation "$made" || fail "'$binaries/queuecast documentation' failed"
  for name in "$made"/man*/*; do
    install -D -m 644 "$name" "$image/usr/share/man/$(basename "$(dirname "$name")")/${name##*/}"
  done
  for name in queuecast queuecastd; do
    [[ ! -e $made/completions/$name.bash ]] || install -D -m 644 "$made/completions/$name.bash" "$image/usr/share/bash-completion/completions/$name"
    [[ ! -e $made/completions/_$name ]] || install -D -m 644 "$made/completions/_$name" "$zsh/_$name"
    [[ ! -e $made/completions/$name.fish ]] || install -D -m 644 "$made/completions/$name.fish" "$image/usr/share/fish/vendor_completions.d/$name.fish"
  done
  rm -rf "$made"

  install -d "$documentation/docs" "$documentation/examples"
  install -m 644 "$repository/README.md" "$repository/CHANGELOG.md" "$documentation"
  install -m 644 "$repository"/docs/*.md "$repository"/docs/*.svg "$documentation/docs"
  install -m 644 "$repository"/packaging/examples/* "$documentation/examples"
}
