# SPDX-License-Identifier: Apache-2.0
# The program of boards/linux, complete in itself, for a Linux in an emulated riscv64 machine.
set(KDZ_LINUX_BOARD riscv64)
include(${CMAKE_CURRENT_LIST_DIR}/../linux/board.cmake)
target_link_options(kadenz-suite PRIVATE -static)
