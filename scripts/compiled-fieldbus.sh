# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Keeps what scripts/test.sh compiled of fieldbus/ for clones with the same files, as ccache keeps
# objects of C. Sourced, never run. (docs/decisions/0066-compiled-fieldbus.md)
#
#   <cache>/crates/fieldbus-<key>/target   the build folder of cargo
#   <cache>/crates/fieldbus-<key>/dates    dates of the files that it was compiled from
#
# The key is a hash of all files in fieldbus/, the compilers and KDL. cargo itself compares dates,
# so a clone also takes over the dates of the files; cargo then compiles only what it would have
# compiled in the first clone.
# No compiled program may name a file of its checkout (tests/architecture/test_house_rules.py).

KEPT_FIELDBUS=2 # build folders, the newest

# Files that exist: git also lists removed ones until the removal is committed.
fieldbus_files() {
    local file
    git ls-files -z --cached --others --exclude-standard fieldbus |
        while IFS= read -r -d '' file; do
            [ ! -f "$file" ] || printf '%s\0' "$file"
        done
}

# Fails where git knows no file, as in an unpacked archive: such trees would all have one key.
fieldbus_key() {
    [ "$(fieldbus_files 2>/dev/null | wc -c)" -gt 0 ] || return 1
    {
        fieldbus_files | xargs -0 sha256sum
        rustc --version --verbose || true # a missing compiler compiles nothing
        c++ --version || true
        pkg-config --modversion orocos-kdl || true
        env | grep -E '^(CARGO|RUST)[A-Z_]*FLAGS=' || true
    } 2>/dev/null | sha256sum | cut -c 1-16
}

# copy_target FROM TO: links to compiled dependencies, because cargo never writes to them, and
# copies of what cargo compiled of kadenz. Leaves out what only speeds up a clone's next build.
copy_target() {
    cp -al "$1" "$2" 2>/dev/null || { rm -rf "$2" && cp -a "$1" "$2"; }
    rm -rf "$2"/tmp "$2"/cxxbridge "$2"/*/incremental
    (cd "$2" && find . -type f -links +1 \( -path '*kadenz*' -o -path '*/deps/*' -o -path '*/examples/*' \) \
        ! -name 'lib[!k]*.r*' ! -name '*.so' -print0) |
        (cd "$1" && xargs -0 -r cp --archive --parents --remove-destination --target-directory="$2")
}

# take_fieldbus FOLDER: the build folder of a clone with the same files, if one was kept.
take_fieldbus() {
    local key kept date file
    key="$(fieldbus_key)" || return 1
    kept="$CACHE/crates/fieldbus-$key"
    [ -d "$kept" ] || return 1
    rm -rf "$1.new"
    copy_target "$kept/target" "$1.new" || return 1
    while IFS=' ' read -r -d '' date file; do
        touch --date="@$date" "$file"
    done <"$kept/dates"
    touch "$kept"
    mv "$1.new" "$1"
}

# keep_fieldbus KEY FOLDER: keeps FOLDER, which was compiled from the files with KEY.
keep_fieldbus() {
    local kept="$CACHE/crates/fieldbus-$1"
    # Files that changed in the meantime may be compiled, or not.
    [ ! -d "$kept" ] && [ "$(fieldbus_key)" = "$1" ] || return 0
    (
        lock_cache
        rm -rf "$kept.new"
        mkdir -p "$kept.new"
        copy_target "$2" "$kept.new/target"
        fieldbus_files | xargs -0 stat --printf '%.9Y %n\0' >"$kept.new/dates"
        mv "$kept.new" "$kept"
        find "$CACHE/crates" -mindepth 1 -maxdepth 1 -name 'fieldbus-*' -printf '%T@ %p\n' | sort -rn |
            tail -n "+$((KEPT_FIELDBUS + 1))" | cut -d ' ' -f 2- | xargs -r rm -rf
    )
}
