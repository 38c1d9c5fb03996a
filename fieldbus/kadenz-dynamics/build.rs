// SPDX-License-Identifier: Apache-2.0
//! Compiles the C++ side and finds KDL by pkg-config (Debian: liborocos-kdl-dev; for another instruction set, the
//! archive of scripts/setup-guest-programs.sh in PKG_CONFIG_PATH_<target>).

fn main() {
    let kdl = match pkg_config::Config::new().atleast_version("1.5").probe("orocos-kdl") {
        Ok(kdl) => kdl,
        Err(error) => panic!("KDL 1.5 not found by pkg-config. Install liborocos-kdl-dev (Debian). {error}"),
    };
    cxx_build::bridge("src/bridge.rs")
        .file("cpp/arm.cpp")
        .file("cpp/newton_euler.cpp")
        .include("cpp")
        .std("c++17")
        // System headers: warnings are for our own file.
        .flags(kdl.include_paths.iter().map(|path| format!("-isystem{}", path.display())))
        .flag("-Wall")
        .flag("-Wextra")
        .opt_level(2)
        .compile("kadenz-dynamics-cpp");
    for archive in kdl.link_paths.iter().map(|path| path.join("liborocos-kdl.a")).filter(|file| file.is_file()) {
        println!("cargo:rerun-if-changed={}", archive.display());
    }
    for file in ["cpp/arm.cpp", "cpp/arm.h", "cpp/newton_euler.cpp", "cpp/newton_euler.h", "src/bridge.rs"] {
        println!("cargo:rerun-if-changed={file}");
    }
}
