// SPDX-License-Identifier: Apache-2.0
//! Neuromeka Indy7: numbers of the maker's public ROS description (BSD-3-Clause): origins, inertias and limits.
//! The description carries no rotor inertia, gear ratio or friction; a simulation has to assume those.

use std::f64::consts::FRAC_PI_2;

use crate::{Arm, Link};

/// Number of joints of the arm.
pub const JOINTS: usize = 6;

/// One row of the description; angles of limits in degrees as it prints them.
struct Row {
    xyz: [f64; 3],
    rpy: [f64; 3],
    mass: f64,
    com: [f64; 3],
    inertia: [f64; 6],
    limit_deg: f64,
    velocity_deg_s: f64,
    effort_nm: f64,
}

#[rustfmt::skip]
const ROWS: [Row; JOINTS] = [
    Row { xyz: [0.0, 0.0, 0.0775], rpy: [0.0; 3], mass: 11.44444535, com: [-0.00023749, -0.04310313, 0.13245396],
          inertia: [0.35065005, 0.30479800, 0.06003147, 0.00011931, -0.00037553, -0.10984447],
          limit_deg: 175.0, velocity_deg_s: 150.0, effort_nm: 431.97 },
    Row { xyz: [0.0, -0.109, 0.222], rpy: [FRAC_PI_2, FRAC_PI_2, 0.0], mass: 5.84766553, com: [-0.29616699, 0.00002254, 0.04483069],
          inertia: [0.03599743, 0.72293306, 0.70024119, -0.00004693, -0.05240346, 0.00000176],
          limit_deg: 175.0, velocity_deg_s: 150.0, effort_nm: 431.97 },
    Row { xyz: [-0.45, 0.0, -0.0305], rpy: [0.0; 3], mass: 2.68206064, com: [-0.16804016, 0.00021421, -0.07000383],
          inertia: [0.01617210, 0.11364055, 0.10022522, -0.00011817, 0.03341882, -0.00004371],
          limit_deg: 175.0, velocity_deg_s: 150.0, effort_nm: 197.23 },
    Row { xyz: [-0.267, 0.0, -0.075], rpy: [-FRAC_PI_2, 0.0, FRAC_PI_2], mass: 2.12987371, com: [-0.00026847, -0.07098440, 0.07649128],
          inertia: [0.02798891, 0.01443076, 0.01496211, 0.00003893, -0.00004768, -0.01266296],
          limit_deg: 175.0, velocity_deg_s: 180.0, effort_nm: 79.79 },
    Row { xyz: [0.0, -0.114, 0.083], rpy: [FRAC_PI_2, FRAC_PI_2, 0.0], mass: 2.22412271, com: [-0.09796232, -0.00023114, 0.06445892],
          inertia: [0.01105297, 0.03698291, 0.02754795, 0.00005517, -0.01481977, -0.00003740],
          limit_deg: 175.0, velocity_deg_s: 180.0, effort_nm: 79.79 },
    Row { xyz: [-0.168, 0.0, 0.069], rpy: [-FRAC_PI_2, 0.0, FRAC_PI_2], mass: 0.38254932, com: [0.00008147, -0.00046556, 0.03079097],
          inertia: [0.00078982, 0.00079764, 0.00058319, -0.00000034, 0.00000083, -0.00000508],
          limit_deg: 215.0, velocity_deg_s: 180.0, effort_nm: 79.79 },
];

/// The six links, base outwards.
pub fn links() -> [Link; JOINTS] {
    ROWS.map(|row| Link {
        origin_m: row.xyz,
        origin_rpy_rad: row.rpy,
        mass_kg: row.mass,
        com_m: row.com,
        inertia_kg_m2: row.inertia,
        limit_rad: row.limit_deg.to_radians(),
        velocity_rad_s: row.velocity_deg_s.to_radians(),
        effort_nm: row.effort_nm,
    })
}

/// The arm on a level floor.
pub fn arm() -> Arm {
    Arm::on_floor(&links())
}
