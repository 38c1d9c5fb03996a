# SPDX-License-Identifier: Apache-2.0
# Two coherent VexRiscv. Core 0 starts the image, core 1 waits for it (boards/softcore/cores.S).
include(${kdz_root}/boards/softcore/softcore.cmake)
set(KDZ_BOARD_CLINT_ADDRESS 0x02000000)
kdz_softcore(vexriscv-cluster 0x10000000 0x00100000 CORES 2 LOCKS 0x02010000)
