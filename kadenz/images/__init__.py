# SPDX-License-Identifier: Apache-2.0
"""Source to ELF: finds the kernel's source, compiles the suite with CMake, describes the image."""
