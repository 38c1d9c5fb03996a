// SPDX-License-Identifier: Apache-2.0
// The C++ side of kadenz-dynamics: a KDL chain with everything its solvers need allocated once.
#pragma once

#include "rust/cxx.h"

#include "newton_euler.h"

#include <kdl/chain.hpp>
#include <kdl/chaindynparam.hpp>
#include <kdl/chainidsolver_recursive_newton_euler.hpp>

#include <cstddef>
#include <memory>

namespace kadenz
{

struct LinkRow;

class KdlArm
{
  public:
    KdlArm(rust::Slice<const LinkRow> links, double gx, double gy, double gz);

    // Slices hold one value a joint; the Rust side checks their lengths.
    void inverse(rust::Slice<const double> q, rust::Slice<const double> qd,
                 rust::Slice<const double> qdd, rust::Slice<double> tau);
    // The same by KDL's own solver: the yardstick of tests and benchmark. 0, or KDL's error code.
    int inverse_of_kdl(rust::Slice<const double> q, rust::Slice<const double> qd,
                       rust::Slice<const double> qdd, rust::Slice<double> tau);
    // Row-major joints x joints. 0, or KDL's error code.
    int mass(rust::Slice<const double> q, rust::Slice<double> matrix);
    // Sum of -m g.r over the links, with r from the first joint's frame, J.
    double potential(rust::Slice<const double> q) const;

  private:
    KDL::Chain chain;    // before the solvers: they keep references to it
    KDL::Vector gravity; // in the first joint's frame
    NewtonEuler newton_euler;
    KDL::ChainIdSolver_RNE kdl_newton_euler;
    KDL::ChainDynParam parameters;
    KDL::JntArray position, velocity, acceleration, torque;
    KDL::JntSpaceInertiaMatrix inertia;
    KDL::Wrenches external;
};

std::unique_ptr<KdlArm> kdl_arm(rust::Slice<const LinkRow> links, double gx, double gy, double gz);

} // namespace kadenz
