# SPDX-License-Identifier: Apache-2.0
# SiFive HiFive1 Rev A: 256 MHz, which kioxia2019 calculated for a HiFive1 and
# measured as more than 280.
include(${kdz_root}/boards/fe310/fe310.cmake)
kdz_fe310(64 0)
