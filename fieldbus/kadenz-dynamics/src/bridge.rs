// SPDX-License-Identifier: Apache-2.0
//! The border to C++. Only [`crate::Arm`] uses it, because it checks no lengths.
//!
//! The one file outside `kadenz-rt` with `unsafe`: cxx asks its user to vouch for the C++ side.
#![allow(unsafe_code)]

#[cxx::bridge(namespace = "kadenz")]
pub(crate) mod ffi {
    /// A link as C++ sees it: the joint's pose in the parent link's frame and the body behind it.
    struct LinkRow {
        xyz: [f64; 3],
        rpy: [f64; 3],
        mass_kg: f64,
        com: [f64; 3],
        /// ixx iyy izz ixy ixz iyz about the centre of mass, kg·m².
        inertia: [f64; 6],
    }

    unsafe extern "C++" {
        include!("arm.h");
        type KdlArm;
        fn kdl_arm(links: &[LinkRow], gx: f64, gy: f64, gz: f64) -> UniquePtr<KdlArm>;
        fn inverse(self: Pin<&mut KdlArm>, q: &[f64], qd: &[f64], qdd: &[f64], tau: &mut [f64]);
        fn inverse_of_kdl(self: Pin<&mut KdlArm>, q: &[f64], qd: &[f64], qdd: &[f64], tau: &mut [f64]) -> i32;
        fn mass(self: Pin<&mut KdlArm>, q: &[f64], matrix: &mut [f64]) -> i32;
        fn potential(self: &KdlArm, q: &[f64]) -> f64;
    }
}

// SAFETY: KdlArm owns all it points to (the solvers refer to the chain beside them, which does not move with the
// pointer) and has no thread-local state, so any thread that owns it may use it.
unsafe impl Send for ffi::KdlArm {}
