// SPDX-License-Identifier: Apache-2.0
#include "arm.h"

#include "kadenz-dynamics/src/bridge.rs.h"

#include <algorithm>

namespace kadenz
{
namespace
{

KDL::Frame joint_frame(const LinkRow &link)
{
    return {KDL::Rotation::RPY(link.rpy[0], link.rpy[1], link.rpy[2]),
            KDL::Vector(link.xyz[0], link.xyz[1], link.xyz[2])};
}

KDL::RigidBodyInertia body(const LinkRow &link)
{
    const auto &i = link.inertia;
    return KDL::RigidBodyInertia(link.mass_kg, KDL::Vector(link.com[0], link.com[1], link.com[2]),
                                 KDL::RotationalInertia(i[0], i[1], i[2], i[3], i[4], i[5]));
}

/* Every joint turns about its own z, and a segment ends where the next joint begins: KDL's plain
 * RotZ is then enough, which saves a rotation about a general axis in each joint. KDL wants the
 * inertia in the frame of the segment's tip. The frame of the first joint is the root; its pose on
 * the floor only turns gravity. */
KDL::Chain chain_of(rust::Slice<const LinkRow> links)
{
    KDL::Chain chain;
    for (std::size_t k = 0; k < links.size(); ++k) {
        const KDL::Frame tip =
            k + 1 < links.size() ? joint_frame(links[k + 1]) : KDL::Frame::Identity();
        chain.addSegment(
            KDL::Segment(KDL::Joint(KDL::Joint::RotZ), tip, tip.Inverse() * body(links[k])));
    }
    return chain;
}

void copy(rust::Slice<const double> from, KDL::JntArray &to)
{
    std::copy(from.begin(), from.end(), to.data.data());
}

} // namespace

KdlArm::KdlArm(rust::Slice<const LinkRow> links, double gx, double gy, double gz)
    : chain(chain_of(links)), gravity(joint_frame(links[0]).M.Inverse() * KDL::Vector(gx, gy, gz)),
      newton_euler(chain, gravity), kdl_newton_euler(chain, gravity), parameters(chain, gravity),
      position(chain.getNrOfJoints()), velocity(chain.getNrOfJoints()),
      acceleration(chain.getNrOfJoints()), torque(chain.getNrOfJoints()),
      inertia(static_cast<int>(chain.getNrOfJoints())),
      external(chain.getNrOfSegments(), KDL::Wrench::Zero())
{
}

void KdlArm::inverse(rust::Slice<const double> q, rust::Slice<const double> qd,
                     rust::Slice<const double> qdd, rust::Slice<double> tau)
{
    newton_euler.torques(q.data(), qd.data(), qdd.data(), tau.data());
}

int KdlArm::inverse_of_kdl(rust::Slice<const double> q, rust::Slice<const double> qd,
                           rust::Slice<const double> qdd, rust::Slice<double> tau)
{
    copy(q, position);
    copy(qd, velocity);
    copy(qdd, acceleration);
    const int error =
        kdl_newton_euler.CartToJnt(position, velocity, acceleration, external, torque);
    std::copy_n(torque.data.data(), tau.size(), tau.begin());
    return error;
}

int KdlArm::mass(rust::Slice<const double> q, rust::Slice<double> matrix)
{
    copy(q, position);
    const int error = parameters.JntToMass(position, inertia);
    // Symmetric, so Eigen's column order and a row order are the same numbers.
    std::copy_n(inertia.data.data(), matrix.size(), matrix.begin());
    return error;
}

double KdlArm::potential(rust::Slice<const double> q) const
{
    KDL::Frame frame = KDL::Frame::Identity();
    double energy = 0.0;
    for (unsigned int k = 0; k < chain.getNrOfSegments(); ++k) {
        const KDL::Segment &segment = chain.getSegment(k);
        frame = frame * segment.pose(q[k]);
        const KDL::RigidBodyInertia &link = segment.getInertia();
        energy -= link.getMass() * KDL::dot(gravity, frame * link.getCOG());
    }
    return energy;
}

std::unique_ptr<KdlArm> kdl_arm(rust::Slice<const LinkRow> links, double gx, double gy, double gz)
{
    return std::make_unique<KdlArm>(links, gx, gy, gz);
}

} // namespace kadenz
