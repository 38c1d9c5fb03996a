# SPDX-License-Identifier: Apache-2.0
# A program under Linux. The processor is the compiler's: pass a toolchain file for another one.
string(TOLOWER "${CMAKE_SYSTEM_PROCESSOR}" processor)
if(processor MATCHES "^(x86_64|amd64)$")
    set(KDZ_BOARD_ARCH x86_64)
elseif(processor MATCHES "^(aarch64|arm64)$")
    set(KDZ_BOARD_ARCH aarch64)
elseif(processor STREQUAL "riscv64")
    set(KDZ_BOARD_ARCH riscv64)
else()
    message(FATAL_ERROR "boards/linux knows x86_64, aarch64 and riscv64, not '${CMAKE_SYSTEM_PROCESSOR}'. "
        "Add arch/${CMAKE_SYSTEM_PROCESSOR}/ with an arch.cmake like arch/x86_64.")
endif()
target_sources(kadenz-suite PRIVATE
    ${CMAKE_CURRENT_LIST_DIR}/clock.c
    ${CMAKE_CURRENT_LIST_DIR}/console.c
    ${CMAKE_CURRENT_LIST_DIR}/cpus.c
    ${CMAKE_CURRENT_LIST_DIR}/signals.c
    ${CMAKE_CURRENT_LIST_DIR}/storage.c)
target_include_directories(kadenz-suite PRIVATE ${CMAKE_CURRENT_LIST_DIR}/include)
if(NOT KDZ_LINUX_BOARD) # a board of its own that uses this program sets its name
    set(KDZ_LINUX_BOARD linux)
endif()
target_compile_definitions(kadenz-board INTERFACE
    _GNU_SOURCE
    KDZ_LINUX_BOARD="${KDZ_LINUX_BOARD}"
    # Largest message of itc/. A channel that takes less says so: a pipe PIPE_BUF = 4096 (pipe(7)).
    KDZ_MESSAGE_BYTES_MAX=65536u
    # One lane per CPU, and its companions; the wire numbers lanes in one byte.
    KDZ_LANES_MAX=255
    # A cache line, or two where a processor fetches them in pairs.
    KDZ_APART=__attribute__\(\(aligned\(128\)\)\)
    # No sample is stored here yet: a span of this length would make its record invalid.
    # kadenz/store/storage_file.py looks for it.
    KDZ_STORAGE_BLANK=UINT32_MAX
    # Whole frames, each with one write(2).
    KDZ_SAMPLES_BODY_BYTES=4096u
    KDZ_WIRE_BUFFER_BYTES=8192u)
