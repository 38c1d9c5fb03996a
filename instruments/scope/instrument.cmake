# SPDX-License-Identifier: Apache-2.0
# Instrument `scope`: marks are stores to kdz_scope_marker, stamped from outside by the QEMU plugin.
target_sources(kadenz-suite PRIVATE ${CMAKE_CURRENT_LIST_DIR}/on_target/marker.c)
target_include_directories(kadenz-suite PRIVATE ${CMAKE_CURRENT_LIST_DIR}/on_target)
