# SPDX-License-Identifier: Apache-2.0
# Instrument `beside`: the marks of the scope, and a thread that works on another core meanwhile. For
# `kadenz worst` on several cores, whose other images are without it.
target_sources(kadenz-suite PRIVATE
    ${CMAKE_CURRENT_LIST_DIR}/on_target/beside.c
    ${CMAKE_CURRENT_LIST_DIR}/../scope/on_target/marker.c)
target_include_directories(kadenz-suite PRIVATE
    ${CMAKE_CURRENT_LIST_DIR}/on_target ${CMAKE_CURRENT_LIST_DIR}/../scope/on_target)
