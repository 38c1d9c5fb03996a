# SPDX-License-Identifier: Apache-2.0
# What a kernel.cmake would say, after the target is there.
cmake_language(DEFER CALL set_property TARGET kadenz-suite PROPERTY KDZ_KERNEL_OWNS_RESET ON)
