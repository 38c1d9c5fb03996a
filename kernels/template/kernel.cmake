# SPDX-License-Identifier: Apache-2.0
# Adds the port, and the kernel that it calls, to the image.
#
# If the kernel's source comes from outside, build it from KDZ_KERNEL_SOURCE as an OBJECT library of
# its own that links kadenz-board, so that our warnings apply to our code alone
# (kernels/freertos/kernel.cmake). If the kernel owns reset or main, set(KDZ_KERNEL_OWNS_MAIN ON)
# and call kdz_board_init, kdz_clock_init and kdz_suite_main from its first thread.
target_sources(kadenz-suite PRIVATE ${CMAKE_CURRENT_LIST_DIR}/port.c)
