# SPDX-License-Identifier: Apache-2.0
# VexRiscv IMAC with caches. The core treats addresses from 0x8000_0000 on as devices.
include(${kdz_root}/boards/softcore/softcore.cmake)
set(KDZ_BOARD_CLINT_ADDRESS 0xf0010000)
kdz_softcore(vexriscv 0xf0000000 0xf0020000)
