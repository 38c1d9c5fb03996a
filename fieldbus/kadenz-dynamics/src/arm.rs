// SPDX-License-Identifier: Apache-2.0
//! The arm: inverse and forward dynamics, gravity, energy.

use cxx::UniquePtr;

use crate::bridge::ffi::{kdl_arm, KdlArm, LinkRow};
use crate::linear;
use crate::model::{Link, STANDARD_GRAVITY_M_S2};

/// Why dynamics could not be computed.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum DynamicsError {
    /// A slice does not have one value a joint.
    #[error("{what} has {got} values, the arm has {joints} joints. Pass one value a joint")]
    Length {
        /// Name of the argument that was refused.
        what: &'static str,
        /// Values that it has.
        got: usize,
        /// Joints of the arm; the square of it is the length of a matrix.
        joints: usize,
    },
    /// KDL refused; the number is its `SolverI` code.
    #[error("KDL returned error {0}")]
    Kdl(i32),
    /// The mass matrix is not positive definite: a mass or an inertia of the model is wrong, or an input is not finite.
    #[error(
        "the mass matrix is not positive definite. Check masses and inertias of the model, and that inputs are finite"
    )]
    Singular,
}

/// A serial arm of revolute joints. Everything is allocated by [`Arm::new`]; calls allocate nothing.
pub struct Arm {
    kdl: UniquePtr<KdlArm>,
    joints: usize,
    zero: Box<[f64]>,
    matrix: Box<[f64]>,
}

impl std::fmt::Debug for Arm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Arm").field("joints", &self.joints).finish_non_exhaustive()
    }
}

impl Arm {
    /// An arm of at least one link under `gravity_m_s2`, given in the base's frame.
    pub fn new(links: &[Link], gravity_m_s2: [f64; 3]) -> Self {
        assert!(!links.is_empty(), "an arm has at least one link");
        let rows: Vec<LinkRow> = links
            .iter()
            .map(|link| LinkRow {
                xyz: link.origin_m,
                rpy: link.origin_rpy_rad,
                mass_kg: link.mass_kg,
                com: link.com_m,
                inertia: link.inertia_kg_m2,
            })
            .collect();
        let [x, y, z] = gravity_m_s2;
        let joints = links.len();
        Self {
            kdl: kdl_arm(&rows, x, y, z),
            joints,
            zero: vec![0.0; joints].into(),
            matrix: vec![0.0; joints * joints].into(),
        }
    }

    /// An arm standing upright on a level floor.
    pub fn on_floor(links: &[Link]) -> Self {
        Self::new(links, [0.0, 0.0, -STANDARD_GRAVITY_M_S2])
    }

    /// Number of joints: the length of every slice below.
    pub fn joints(&self) -> usize {
        self.joints
    }

    /// Joint torques (N·m) that give accelerations `qdd` (rad/s²) at positions `q` (rad) and velocities `qd` (rad/s).
    /// Recursive Newton-Euler: R. Featherstone, Rigid Body Dynamics Algorithms (2008), table 5.1, over KDL's types.
    pub fn inverse(&mut self, q: &[f64], qd: &[f64], qdd: &[f64], torque: &mut [f64]) -> Result<(), DynamicsError> {
        self.check("q", q)?;
        self.check("qd", qd)?;
        self.check("qdd", qdd)?;
        self.check("torque", torque)?;
        self.kdl.pin_mut().inverse(q, qd, qdd, torque);
        Ok(())
    }

    /// [`Arm::inverse`] by KDL's own solver, which asks each joint three times for its sine and cosine: the yardstick of
    /// the tests and the peer in the benchmark.
    pub fn inverse_of_kdl(
        &mut self,
        q: &[f64],
        qd: &[f64],
        qdd: &[f64],
        torque: &mut [f64],
    ) -> Result<(), DynamicsError> {
        self.check("q", q)?;
        self.check("qd", qd)?;
        self.check("qdd", qdd)?;
        self.check("torque", torque)?;
        kdl(self.kdl.pin_mut().inverse_of_kdl(q, qd, qdd, torque))
    }

    /// Torques (N·m) that hold the arm still against gravity.
    pub fn gravity(&mut self, q: &[f64], torque: &mut [f64]) -> Result<(), DynamicsError> {
        self.check("q", q)?;
        self.check("torque", torque)?;
        self.kdl.pin_mut().inverse(q, &self.zero, &self.zero, torque);
        Ok(())
    }

    /// Torques (N·m) of gravity, centrifugal and Coriolis forces: the inverse dynamics at zero acceleration.
    pub fn bias(&mut self, q: &[f64], qd: &[f64], torque: &mut [f64]) -> Result<(), DynamicsError> {
        self.check("q", q)?;
        self.check("qd", qd)?;
        self.check("torque", torque)?;
        self.kdl.pin_mut().inverse(q, qd, &self.zero, torque);
        Ok(())
    }

    /// The joint-space mass matrix, row-major joints × joints, kg·m². Composite rigid bodies, as in KDL.
    pub fn mass(&mut self, q: &[f64], matrix: &mut [f64]) -> Result<(), DynamicsError> {
        self.check("q", q)?;
        if matrix.len() != self.joints * self.joints {
            return Err(DynamicsError::Length { what: "matrix", got: matrix.len(), joints: self.joints });
        }
        kdl(self.kdl.pin_mut().mass(q, matrix))
    }

    /// Accelerations (rad/s²) under joint torques `torque` (N·m): mass matrix and bias, solved by Cholesky.
    pub fn forward(&mut self, q: &[f64], qd: &[f64], torque: &[f64], qdd: &mut [f64]) -> Result<(), DynamicsError> {
        self.check("torque", torque)?;
        self.bias(q, qd, qdd)?;
        for (value, applied) in qdd.iter_mut().zip(torque) {
            *value = applied - *value;
        }
        self.solve_with(q, |_| 0.0, qdd)
    }

    /// Solves `(M(q) + diag(extra)) x = x_in` in place. `extra(joint)` is the inertia behind the joint besides
    /// the links: reflected rotor inertia, or a step's implicit damping; same unit as the mass matrix, not negative.
    pub fn solve_with(&mut self, q: &[f64], extra: impl Fn(usize) -> f64, x: &mut [f64]) -> Result<(), DynamicsError> {
        self.check("q", q)?;
        self.check("x", x)?;
        kdl(self.kdl.pin_mut().mass(q, &mut self.matrix))?;
        for joint in 0..self.joints {
            self.matrix[joint * self.joints + joint] += extra(joint);
        }
        if linear::solve(&mut self.matrix, x) {
            Ok(())
        } else {
            Err(DynamicsError::Singular)
        }
    }

    /// Kinetic energy of the links, J.
    pub fn kinetic_j(&mut self, q: &[f64], qd: &[f64]) -> Result<f64, DynamicsError> {
        self.check("q", q)?;
        self.check("qd", qd)?;
        kdl(self.kdl.pin_mut().mass(q, &mut self.matrix))?;
        let rows = self.matrix.chunks_exact(self.joints);
        let product = rows.zip(qd).map(|(row, v)| v * row.iter().zip(qd).map(|(m, w)| m * w).sum::<f64>());
        Ok(0.5 * product.sum::<f64>())
    }

    /// Potential energy of the links, J, up to a constant.
    pub fn potential_j(&self, q: &[f64]) -> Result<f64, DynamicsError> {
        self.check("q", q)?;
        Ok(self.kdl.potential(q))
    }

    fn check(&self, what: &'static str, slice: &[f64]) -> Result<(), DynamicsError> {
        if slice.len() == self.joints {
            Ok(())
        } else {
            Err(DynamicsError::Length { what, got: slice.len(), joints: self.joints })
        }
    }
}

fn kdl(code: i32) -> Result<(), DynamicsError> {
    if code < 0 {
        Err(DynamicsError::Kdl(code))
    } else {
        Ok(())
    }
}
