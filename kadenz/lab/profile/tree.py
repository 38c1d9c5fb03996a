# SPDX-License-Identifier: Apache-2.0
"""Call paths that grow at both ends: a region begins inside functions whose callers are unknown.

The nodes below a `Slot` have the same caller. A slot without a caller gets one when one of its
functions returns to it.
"""

from __future__ import annotations

from kadenz.images.code import Function


class Slot:
    """The functions called from one place of the tree."""

    __slots__ = ("caller", "interrupt", "nodes")

    def __init__(self, caller: Node | None = None, *, interrupt: bool = False) -> None:
        self.caller = caller
        self.interrupt = interrupt  # of a device or timer: not part of what the kernel was asked
        self.nodes: dict[Function, Node] = {}

    def node(self, function: Function) -> Node:
        """The node of a function here; new on its first call."""
        if function not in self.nodes:
            self.nodes[function] = Node(function, self)
        return self.nodes[function]


class Node:
    """A function, called along one path."""

    __slots__ = ("below", "function", "slot")

    def __init__(self, function: Function, slot: Slot) -> None:
        self.function, self.slot = function, slot
        self.below = Slot(self, interrupt=slot.interrupt)

    def path(self) -> tuple[Function, ...]:
        """The functions from the outermost known one to this."""
        functions = [self.function]
        at = self.slot.caller
        while at is not None:
            functions.append(at.function)
            at = at.slot.caller
        return tuple(reversed(functions))


def discovered(slot: Slot, caller: Function) -> Node:
    """The caller of a slot that had none: its node, in a slot of its own."""
    outer = Slot(interrupt=slot.interrupt)
    node = outer.node(caller)
    node.below = slot
    slot.caller = node
    return node
