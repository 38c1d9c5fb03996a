#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Writes the Verilog of the coherent VexRiscv cluster into the cache, from the Scala sources that the
# package pythondata-cpu-vexriscv carries. Installs a Java compiler and Maven if they are missing;
# compiler and library of the sources come from Maven Central by the versions of pom.xml.
#
#   <cache>/rtl/vexriscv-cluster-verilog-<digest>/cluster.v
. "$(dirname "$0")/lib.sh"

CORE="$ROOT/instruments/rtl/cores/vexriscv-cluster"
PYTHON="${PYTHON:-$ROOT/.venv/bin/python}"

# setting NAME: its value in core.toml.
setting() {
    sed -n "s/^$1 = \"\{0,1\}\([^\"]*\)\"\{0,1\}\$/\1/p" "$CORE/core.toml"
}
wanted="$(setting version)"
sizes=("$(setting cores)" "$(setting instruction_cache_bytes)" "$(setting data_cache_bytes)")
# kadenz/targets/rtl_core.py looks there.
folder="$CACHE/rtl/vexriscv-cluster-verilog-$(inputs_hash "$CORE/Cluster.scala" "$CORE/pom.xml" "$CORE/core.toml")"
if [ -f "$folder/cluster.v" ]; then
    exit 0
fi
planned "generate the VexRiscv cluster's Verilog into $folder (10 min)" && exit 0

missing=()
command -v javac >/dev/null || missing+=(default-jdk-headless)
command -v mvn >/dev/null || missing+=(maven)
if [ "${#missing[@]}" -gt 0 ]; then
    say "Debian packages: ${missing[*]}"
    as_root apt-get install --yes --no-install-recommends "${missing[@]}" >&2
fi
sources="$("$PYTHON" - "$wanted" <<'EOT'
import importlib.util, sys
from importlib import metadata
found = metadata.version("pythondata-cpu-vexriscv")
if found != sys.argv[1]:
    sys.exit(f"set-up: pythondata-cpu-vexriscv {found} is installed, {sys.argv[1]} is required")
folder = importlib.util.find_spec("pythondata_cpu_vexriscv").submodule_search_locations[0]
print(f"{folder}/verilog/ext/VexRiscv/src/main/scala")
EOT
)" || die "the cores' sources are not there" "Run make setup first"

lock_cache
mkdir -p "$CACHE/rtl"
work="$CACHE/rtl/cluster-work"
trap 'rm -rf "$work"' EXIT
rm -rf "$work"
mkdir -p "$work/jars" "$work/classes" "$work/out"
say "compiler and libraries from Maven Central"
mvn --quiet --batch-mode --file "$CORE/pom.xml" dependency:copy-dependencies \
    -DoutputDirectory="$work/jars" >"$work/log" 2>&1 || {
    tail -n 20 "$work/log" >&2
    die "Maven did not give the libraries" "Its words are above"
}

# scala FILE...: compiles into $work/classes.
scala() {
    local plugin="$work/jars/spinalhdl-idsl-plugin_2.11-1.7.1.jar"
    java -Xmx3g -Xss16m -cp "$work/jars/*:$work/classes" scala.tools.nsc.Main -nowarn -usejavacp \
        -d "$work/classes" -Xplugin-require:idsl-plugin \
        -Xplugin:"$plugin:${plugin/plugin/payload}" "$@" >"$work/log" 2>&1 || {
        tail -n 20 "$work/log" >&2
        die "the cores' sources do not compile" "The compiler's words are above"
    }
}
say "compiling VexRiscv's sources, several minutes"
find "$sources" -name '*.scala' -print0 | xargs -0 -n 10000 bash -c 'printf "%s\n" "$@"' _ >"$work/files"
scala "@$work/files"
say "generating Verilog"
scala "$CORE/Cluster.scala"
(cd "$work/out" && java -Xss16m -cp "$work/jars/*:$work/classes" kadenz.Cluster "${sizes[@]}" "$work/out") \
    >"$work/log" 2>&1 || {
    tail -n 20 "$work/log" >&2
    die "the generator failed" "Its words are above"
}
rm -rf "$folder"
mv "$work/out" "$folder"
say "the cluster's Verilog is in $folder"
