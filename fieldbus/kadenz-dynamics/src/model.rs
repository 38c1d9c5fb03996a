// SPDX-License-Identifier: Apache-2.0
//! What a link is, in the words of URDF.

/// The gravity of the published robot descriptions, m/s² along the base's -z.
pub const STANDARD_GRAVITY_M_S2: f64 = 9.81;

/// A revolute joint turning about its own z axis, and the body it carries.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Link {
    /// Joint origin in the frame of the link before, m.
    pub origin_m: [f64; 3],
    /// Joint orientation in the frame of the link before, roll pitch yaw, rad.
    pub origin_rpy_rad: [f64; 3],
    /// Mass of the body behind the joint, kg.
    pub mass_kg: f64,
    /// Centre of mass in the link's frame, m.
    pub com_m: [f64; 3],
    /// ixx iyy izz ixy ixz iyz about the centre of mass, axes parallel to the link's frame, kg·m².
    pub inertia_kg_m2: [f64; 6],
    /// Symmetric limit of the joint, rad.
    pub limit_rad: f64,
    /// Limit of speed, rad/s.
    pub velocity_rad_s: f64,
    /// Limit of torque at the joint, N·m.
    pub effort_nm: f64,
}
