# SPDX-License-Identifier: Apache-2.0
"""Settings of a kernel's configuration on which its port relies, as the port's sources state them.

A wrong value stops the compiler: `suite/include/kadenz/needed.h`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_NEEDED = re.compile(
    r'^KDZ_NEEDED\([^"]*,\s*"([^"]+)",\s*"([^"]+)"\);|^#error "needed: ([^:]+): (.+)"$', re.M
)


def needed_settings(sources: Iterable[str]) -> dict[str, str]:
    """Each setting with its value, "configUSE_TIME_SLICING 0", and the reason; by name."""
    reasons = {}
    for text in sources:
        for setting, reason, undefined, why in _NEEDED.findall(text):
            reasons[setting or undefined] = reason or why
    return dict(sorted(reasons.items(), key=lambda entry: entry[0].lower()))
