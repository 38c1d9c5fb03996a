# SPDX-License-Identifier: Apache-2.0
"""KDL's dynamics of Indy7, as the fieldbus programs use them, against Pinocchio's."""

from __future__ import annotations

import subprocess
from math import pi
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from numpy.typing import NDArray

from kadenz.images.program import build_program

STATES = 10_000
# Neuromeka's public description of Indy7, written down a second time on purpose: origin (m),
# roll pitch yaw (rad), mass (kg), centre of mass (m), ixx iyy izz ixy ixz iyz (kg m2).
# fmt: off
LINKS = [
    ((0, 0, .0775), (0, 0, 0), 11.44444535, (-.00023749, -.04310313, .13245396),
     (.35065005, .30479800, .06003147, .00011931, -.00037553, -.10984447)),
    ((0, -.109, .222), (pi / 2, pi / 2, 0), 5.84766553, (-.29616699, .00002254, .04483069),
     (.03599743, .72293306, .70024119, -.00004693, -.05240346, .00000176)),
    ((-.45, 0, -.0305), (0, 0, 0), 2.68206064, (-.16804016, .00021421, -.07000383),
     (.01617210, .11364055, .10022522, -.00011817, .03341882, -.00004371)),
    ((-.267, 0, -.075), (-pi / 2, 0, pi / 2), 2.12987371, (-.00026847, -.07098440, .07649128),
     (.02798891, .01443076, .01496211, .00003893, -.00004768, -.01266296)),
    ((0, -.114, .083), (pi / 2, pi / 2, 0), 2.22412271, (-.09796232, -.00023114, .06445892),
     (.01105297, .03698291, .02754795, .00005517, -.01481977, -.00003740)),
    ((-.168, 0, .069), (-pi / 2, 0, pi / 2), .38254932, (.00008147, -.00046556, .03079097),
     (.00078982, .00079764, .00058319, -.00000034, .00000083, -.00000508)),
]
# fmt: on


def pinocchio_model() -> pin.Model:
    model = pin.Model()
    parent = 0
    for k, (xyz, rpy, mass, com, (xx, yy, zz, xy, xz, yz)) in enumerate(LINKS):
        placement = pin.SE3(pin.rpy.rpyToMatrix(*rpy), np.array(xyz, dtype=float))
        parent = model.addJoint(parent, pin.JointModelRZ(), placement, f"joint{k}")
        inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        model.appendBodyToJoint(
            parent, pin.Inertia(mass, np.array(com), inertia), pin.SE3.Identity()
        )
    model.gravity.linear = np.array([0.0, 0.0, -9.81])
    return model


@pytest.fixture(scope="module")
def program() -> Path:
    return build_program("kadenz-dynamics")[0].path


def torques_of_kdl(program: Path, states: NDArray[np.float64]) -> NDArray[np.float64]:
    lines = "\n".join(" ".join(map(repr, row.tolist())) for row in states) + "\n"
    done = subprocess.run([program], input=lines, capture_output=True, text=True, check=True)
    return np.array([line.split() for line in done.stdout.splitlines()], dtype=float)


def test_kdl_and_pinocchio_agree_on_ten_thousand_random_states(program: Path) -> None:
    random = np.random.default_rng(2024)
    position = random.uniform(-pi, pi, (STATES, 6))
    velocity = random.uniform(-pi, pi, (STATES, 6))  # 180 degrees a second, the fastest joint
    acceleration = random.uniform(-20.0, 20.0, (STATES, 6))
    kdl = torques_of_kdl(program, np.hstack([position, velocity, acceleration]))
    model = pinocchio_model()
    data = model.createData()
    other = np.array(
        [
            pin.rnea(model, data, q, v, a)
            for q, v, a in zip(position, velocity, acceleration, strict=True)
        ]
    )
    assert kdl.shape == (STATES, 6)
    assert np.abs(kdl - other).max() < 1e-5
    assert np.abs(kdl).max() > 100.0  # they agree on something


def test_a_line_that_is_no_state_is_an_error_that_names_it(program: Path) -> None:
    done = subprocess.run(
        [program], input="1 2 three\n", capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "line 1" in done.stderr
    assert "three" in done.stderr
