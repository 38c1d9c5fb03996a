#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Last step of a set-up: compiles and links one line with each required compiler, like the builds. A
# compiler without its C library fails here instead of in a build.
#
# Usage: setup-compilers.sh [--plan] [tests|guests]     the compilers that only tests or guests need.
. "$(dirname "$0")/lib.sh"
[ "$PLAN" = no ] || exit 0 # it changes nothing

scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
printf '#include <stdint.h>\nint main(void) { return (int)sizeof(uint32_t) - 4; }\n' \
    >"$scratch/line.c"
printf '#include <vector>\nint main() { return std::vector<int>(1).at(0); }\n' >"$scratch/line.cc"

# compiles PURPOSE COMMAND...: the last argument of the command is the source file.
compiles() {
    local purpose="$1"
    shift
    "$@" -o "$scratch/line" >"$scratch/log" 2>&1 || {
        cat "$scratch/log" >&2
        die "$1 cannot compile and link one line ($purpose)" \
            "Its words are above. Reinstall the package of $1 and of its C library"
    }
}

if [ "${1:-}" = guests ]; then
    for isa in x86_64 aarch64 riscv64; do
        compiles "the suite for $isa guests" "$isa-linux-gnu-gcc" -static "$scratch/line.c"
    done
    for isa in aarch64 riscv64; do
        compiles "inverse dynamics in $isa guests" "$isa-linux-gnu-g++" -static "$scratch/line.cc"
    done
    exit 0
elif [ "${1:-}" = tests ]; then
    compiles "sanitizers" clang -fsanitize=address,undefined "$scratch/line.c"
    exit 0
fi
compiles "the suite on this Linux" gcc "$scratch/line.c"
compiles "inverse dynamics" g++ "$scratch/line.cc"
compiles "images for RISC-V boards" riscv64-unknown-elf-gcc --specs=picolibc.specs \
    -march=rv32imac -mabi=ilp32 "$scratch/line.c"
compiles "images for Arm boards" arm-none-eabi-gcc --specs=picolibc.specs \
    -mcpu=cortex-m4 -mthumb "$scratch/line.c"
