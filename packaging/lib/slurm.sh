# shellcheck shell=bash
# What a root directory's Slurm is: its release, where its plugins lie, and which library programs
# load. Sourced by build-deb and build-rpm, which define `fail`.

# read_slurm ROOT: sets slurm_version (such as 22.05.8), slurm_series (22.05), slurm_above_version
# and slurm_above_series (the lowest versions beyond them), slurm_number (SLURM_VERSION_NUMBER,
# decimal) and slurm_soname.
read_slurm() {
  local root=${1%/} number major minor micro library
  local header=$root/usr/include/slurm/slurm_version.h
  number=$(sed -nE 's/^#define SLURM_VERSION_NUMBER (0x[0-9a-fA-F]+).*/\1/p' "$header" 2>/dev/null || true)
  [[ $number ]] || fail "$header is not there or names no version: install Slurm's development files (Debian: libslurm-dev)"
  slurm_number=$((number))
  major=$((slurm_number >> 16)) minor=$((slurm_number >> 8 & 255)) micro=$((slurm_number & 255))
  printf -v slurm_series '%d.%02d' "$major" "$minor"
  slurm_version=$slurm_series.$micro
  # shellcheck disable=SC2034 # this and the next are read in build-deb and build-rpm
  printf -v slurm_above_series '%d.%02d' "$major" $((minor + 1))
  # shellcheck disable=SC2034 # read in build-deb and build-rpm
  slurm_above_version=$slurm_series.$((micro + 1))
  library=$(find "$root"/usr/lib* -maxdepth 2 -name 'libslurm.so.*' -type f -print -quit)
  [[ $library ]] || fail "found no libslurm.so.* under $root/usr/lib*"
  slurm_soname=$(objdump -p "$library" | awk '$1 == "SONAME" { print $2 }')
  [[ $slurm_soname ]] || fail "$library has no name of its own (SONAME)"
}

# check_plugin FILE: fails unless the plugin was built for slurm_version.
check_plugin() {
  local address size start offset found
  read -r address size < <(readelf --wide --dyn-syms "$1" | awk '$8 == "plugin_version" { print $2, $3 }') || true
  [[ ${address-} && $size == 4 ]] || fail "$1 is no plugin of Slurm's: it has no plugin_version"
  address=$((16#$address))
  while read -r _ start offset size; do
    ((address >= 16#$start && address < 16#$start + 16#$size)) || continue
    found=$(od -An -tu4 -j $((16#$offset + address - 16#$start)) -N 4 "$1")
    ((found == slurm_number)) || fail "$1 was built for $(version_text "$found"), not for $slurm_version"
    return
  done < <(readelf --wide --section-headers "$1" | sed -nE 's/^ *\[ *[0-9]+\] (\.[^ ]+) +PROGBITS +([0-9a-f]+) ([0-9a-f]+) ([0-9a-f]+) .*/\1 \2 \3 \4/p')
  fail "cannot read plugin_version of $1"
}

version_text() { printf 'Slurm %d.%02d.%d' $(($1 >> 16)) $(($1 >> 8 & 255)) $(($1 & 255)); }
