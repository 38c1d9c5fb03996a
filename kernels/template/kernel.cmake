# SPDX-License-Identifier: Apache-2.0
# Adds the port, and the kernel it calls, to the image.
#
# A kernel whose source comes from outside: take it from KDZ_KERNEL_SOURCE as an OBJECT library of
# its own that links kadenz-board, so that our warnings stay ours (kernels/freertos/kernel.cmake). A kernel that owns reset
# or main: set(KDZ_KERNEL_OWNS_MAIN ON) and call kdz_board_init, kdz_clock_init and kdz_suite_main
# from its first thread.
target_sources(kadenz-suite PRIVATE ${CMAKE_CURRENT_LIST_DIR}/port.c)
