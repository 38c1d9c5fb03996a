# SPDX-License-Identifier: Apache-2.0
# Two of lowRISC's Ibex. Core 0 starts the image, core 1 waits for it (boards/softcore/cores.S).
include(${kdz_root}/boards/softcore/softcore.cmake)
set(KDZ_BOARD_CLINT_ADDRESS 0x02000000)
set(KDZ_BOARD_TRAPS vectored) # Ibex has no direct mode of mtvec
kdz_softcore(ibex2 0x10000000 0x00100000 CORES 2 LOCKS 0x02010000)
