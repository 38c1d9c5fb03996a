# SPDX-License-Identifier: Apache-2.0
# Instrument `ftrace`: the counter, and the stamps of a record in Linux's trace. For timelines.
target_sources(kadenz-suite PRIVATE ${CMAKE_CURRENT_LIST_DIR}/on_target/kept.c)
target_include_directories(kadenz-suite PRIVATE
    ${CMAKE_CURRENT_LIST_DIR}/on_target ${CMAKE_CURRENT_LIST_DIR}/../shared)
