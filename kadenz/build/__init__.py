"""Source to ELF: finds the kernel's source, compiles the suite by CMake, describes the image."""
