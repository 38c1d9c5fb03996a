# SPDX-License-Identifier: Apache-2.0
# VexRiscv IMAC with caches. The core treats addresses from 0x8000_0000 on as devices, and QEMU's
# machine `virt` has its memory there: for QEMU the same code is linked for that map.
include(${kdz_root}/boards/softcore/softcore.cmake)
if(KDZ_BOARD_MAP STREQUAL "virt")
    set(KDZ_BOARD_CLINT_ADDRESS 0x02000000)
    kdz_softcore(vexriscv 0x10000000 0x00100000)
else()
    set(KDZ_BOARD_CLINT_ADDRESS 0xf0010000)
    kdz_softcore(vexriscv 0xf0000000 0xf0020000)
endif()
