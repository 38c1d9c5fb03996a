// SPDX-License-Identifier: Apache-2.0
#include "newton_euler.h"

#include <cmath>

namespace kadenz
{
namespace
{

// RotZ(q) * tip, without the products by 0 and 1.
KDL::Frame turned(const KDL::Frame &tip, double q)
{
    const double c = std::cos(q);
    const double s = std::sin(q);
    const double *m = tip.M.data;
    return {KDL::Rotation(c * m[0] - s * m[3], c * m[1] - s * m[4], c * m[2] - s * m[5],
                          s * m[0] + c * m[3], s * m[1] + c * m[4], s * m[2] + c * m[5], m[6], m[7],
                          m[8]),
            KDL::Vector(c * tip.p.x() - s * tip.p.y(), s * tip.p.x() + c * tip.p.y(), tip.p.z())};
}

} // namespace

NewtonEuler::NewtonEuler(const KDL::Chain &chain, const KDL::Vector &gravity)
    : upwards(-gravity, KDL::Vector::Zero())
{
    const KDL::Twist unit(KDL::Vector::Zero(), KDL::Vector(0.0, 0.0, 1.0));
    for (const KDL::Segment &segment : chain.segments) {
        const KDL::Frame tip = segment.getFrameToTip();
        links.push_back({tip, tip.Inverse(unit), segment.getInertia(), tip, KDL::Wrench::Zero()});
    }
}

void NewtonEuler::torques(const double *q, const double *qd, const double *qdd, double *tau)
{
    KDL::Twist velocity = KDL::Twist::Zero();
    KDL::Twist acceleration = upwards;
    for (std::size_t k = 0; k < links.size(); ++k) {
        Link &link = links[k];
        link.pose = turned(link.tip, q[k]);
        const KDL::Twist own = link.axis * qd[k];
        velocity = link.pose.Inverse(velocity) + own;
        acceleration = link.pose.Inverse(acceleration) + link.axis * qdd[k] + velocity * own;
        link.force = link.body * acceleration + velocity * (link.body * velocity);
    }
    for (std::size_t k = links.size(); k-- > 0;) {
        tau[k] = KDL::dot(links[k].axis, links[k].force);
        if (k > 0) {
            links[k - 1].force += links[k].pose * links[k].force;
        }
    }
}

} // namespace kadenz
