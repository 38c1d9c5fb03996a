# SPDX-License-Identifier: Apache-2.0
# SiFive HiFive1 Rev B: 320 MHz, the speed that yoo2024 names for this board (section 3).
include(${kdz_root}/boards/fe310/fe310.cmake)
kdz_fe310(80 1)
