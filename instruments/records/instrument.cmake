# SPDX-License-Identifier: Apache-2.0
# Instrument `records`: the counter, and a mark where a record opens and closes. For timelines of
# benchmarks that time themselves.
target_sources(kadenz-suite PRIVATE ${CMAKE_CURRENT_LIST_DIR}/on_target/marker.c)
target_include_directories(kadenz-suite PRIVATE
    ${CMAKE_CURRENT_LIST_DIR}/on_target ${CMAKE_CURRENT_LIST_DIR}/../shared)
