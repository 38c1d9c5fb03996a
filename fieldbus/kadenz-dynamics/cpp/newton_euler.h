// SPDX-License-Identifier: Apache-2.0
// Inverse dynamics of a chain of revolute joints, each of whose poses is computed once.
#pragma once

#include <kdl/chain.hpp>

#include <vector>

namespace kadenz
{

/* Recursive Newton-Euler in spatial vectors (R. Featherstone, Rigid Body Dynamics Algorithms, 2008,
 * table 5.1) over KDL's frames, twists, wrenches and inertias: the recursion of KDL's own solver.
 * That one asks each segment for its pose and twice for its twist, which for six joints is 18 sines
 * and cosines a call instead of six, and it is the yardstick in tests/dynamics.rs. */
class NewtonEuler
{
  public:
    // Every joint of the chain is a RotZ. Gravity in the frame of the first joint.
    NewtonEuler(const KDL::Chain &chain, const KDL::Vector &gravity);

    // One value a joint each; rad, rad/s, rad/s², N·m. Allocates nothing.
    void torques(const double *q, const double *qd, const double *qdd, double *tau);

  private:
    struct Link {
        KDL::Frame tip; // in the joint's frame at 0
        KDL::Twist
            axis; // of a unit velocity of the joint, in the tip's frame: the same at any angle
        KDL::RigidBodyInertia body; // in the tip's frame
        // Of the present call: the tip in the tip before it, and the force on it in its own frame.
        KDL::Frame pose;
        KDL::Wrench force;
    };

    std::vector<Link> links;
    KDL::Twist upwards; // a fall of the base against gravity stands for gravity on every body
};

} // namespace kadenz
