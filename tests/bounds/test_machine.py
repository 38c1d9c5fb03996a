# SPDX-License-Identifier: Apache-2.0
"""One instruction, on a machine of which only a part is known."""

from __future__ import annotations

import pytest

from kadenz.bounds.machine import (
    MIE,
    Among,
    Enabled,
    Place,
    Pointer,
    State,
    Value,
    added,
    equal_on_way,
    jump_register,
    outcomes,
    stored,
)
from kadenz.config.profile import CodeKind
from kadenz.images.instructions import Flow, Instruction

HERE = 0x80000100
WORD = 0x80040008


def instruction(text: str, target: int | None = None) -> Instruction:
    """As objdump's line of it is read."""
    name = text.partition(" ")[0]
    kinds: dict[str, CodeKind] = {"lw": "load", "lbu": "load", "sw": "store", "sb": "store"}
    kinds |= {"amoadd.w": "store", "sc.w": "store"}
    flow: Flow = "branch" if target is not None else ""
    return Instruction(HERE, 4, text, kinds.get(name, "other"), flow, target, 0)


def state(**registers: Value) -> State:
    before = State.at_entry(0x80040800, {WORD: 0})
    for name, value in registers.items():
        before = before.writing(name, value)
    return before


@pytest.mark.parametrize(
    ("text", "before", "after"),
    [
        ("li a0,-1", {}, 0xFFFFFFFF),
        ("mv a0,a1", {"a1": 7}, 7),
        ("lui a0,0x80000", {}, 0x80000000),
        ("auipc a0,0x40", {}, HERE + 0x40000),
        ("add a0,a1,-458", {"a1": 458}, 0),
        ("addi a0,sp,16", {}, Place("sp", 16)),
        ("add a0,a0,a1", {"a0": 1}, None),
        ("sll a0,a1,0x2", {"a1": 3}, 12),
        ("sub a0,zero,a1", {"a1": 1}, 0xFFFFFFFF),
        ("and a0,a1,8", {"a1": 12}, 8),
        ("lw a0,0(a1)", {"a1": WORD}, 0),
        ("lw a0,-2040(gp)", {}, 0),
        ("lw a0,4(a1)", {"a1": WORD}, None),
        ("lbu a0,0(a1)", {"a1": WORD}, None),
        ("rem a0,a1,a1", {"a1": 4}, None),
        ("lw zero,0(a1)", {"a0": 5, "a1": WORD}, 5),
    ],
)
def test_a_result_is_known_where_its_operands_are(
    text: str, before: dict[str, Value], after: Value
) -> None:
    (way,) = outcomes(instruction(text), state(**before), masked=True)
    assert (way.address, way.masked) == (HERE + 4, True)
    assert way.state.read("a0") == after
    assert way.state.read("zero") == 0


def test_the_stack_keeps_registers() -> None:
    (saved,) = outcomes(instruction("sw s0,12(sp)"), state(s0=9), masked=False)
    (lost,) = outcomes(instruction("li s0,0"), saved.state, masked=False)
    (again,) = outcomes(instruction("lw s0,12(sp)"), lost.state, masked=False)
    assert again.state.read("s0") == 9
    (local,) = outcomes(instruction("sw a0,8(sp)"), state(a0=9), masked=False)
    (read,) = outcomes(instruction("lw a1,8(sp)"), local.state, masked=False)
    assert read.state.read("a1") is None  # a pointer may have written it
    (torn,) = outcomes(instruction("sb a0,14(sp)"), lost.state, masked=False)
    (unknown,) = outcomes(instruction("lw s0,12(sp)"), torn.state, masked=False)
    assert unknown.state.read("s0") is None


def test_what_lies_below_the_stack_is_forgotten() -> None:
    (saved,) = outcomes(instruction("sw ra,-4(sp)"), state(ra=9), masked=False)
    assert len(saved.state.memory) == 2
    assert saved.state.returning().memory == {WORD: 0}


def test_an_atomic_operation_has_a_result() -> None:
    for text in ("amoadd.w a0,a1,(a2)", "sc.w a0,a1,(a2)"):
        (way,) = outcomes(instruction(text), state(a0=1), masked=False)
        assert way.state.read("a0") is None


def test_of_mstatus_one_bit_is_known() -> None:
    (copy,) = outcomes(instruction("csrr a0,mstatus"), state(), masked=False)
    (other,) = outcomes(instruction("and a1,a0,128"), copy.state, masked=False)
    (bit,) = outcomes(instruction("and a1,a0,8"), copy.state, masked=False)
    assert (other.state.read("a1"), bit.state.read("a1")) == (Enabled(0), MIE)
    (back,) = outcomes(instruction("csrw mstatus,a0"), copy.state, masked=True)
    assert back.masked is False


@pytest.mark.parametrize(
    ("text", "mask", "after"),
    [
        ("and a1,a0,a2", 0xFFFFE777, Enabled(0)),
        ("and a1,a0,a2", 0xFFFFE77F, Enabled(MIE)),
        ("or a1,a0,a2", 0x1880, Enabled(MIE)),
        ("xor a1,a0,a2", 0x1880, None),
        ("or a1,a0,a3", 0, None),
    ],
)
def test_a_copy_of_mstatus_keeps_its_bit(text: str, mask: int, after: Value) -> None:
    (way,) = outcomes(instruction(text), state(a0=Enabled(MIE), a2=mask), masked=False)
    assert way.state.read("a1") == after


def test_a_word_that_points_to_a_thread_keeps_doing_so() -> None:
    running, chosen = Pointer(WORD, True), Pointer(WORD + 4, False)
    before = State.at_entry(0, {WORD: running, WORD + 4: chosen}).writing("a1", WORD)
    for text in ("sw a2,4(a1)", "lw a3,0(a1)", "lw a4,4(a1)"):
        (way,) = outcomes(instruction(text), before, masked=False)
        before = way.state
    assert (before.read("a3"), before.read("a4")) == (running, chosen)
    reread = before.rereading()
    assert (reread.read("a3"), reread.read("a4")) == (running, None)
    assert reread.rereading() is reread
    for text, address in (("beq a3,a4,80000200", 0x80000200), ("bne a3,a4,80000200", HERE + 4)):
        branch = instruction(text, 0x80000200)
        assert equal_on_way(branch, before, address) == {running, chosen}
        assert not equal_on_way(branch, before, 0x80000200 + HERE + 4 - address)
    assert not equal_on_way(instruction("bltu a3,a4,80000200", 0x80000200), before, HERE + 4)


def test_of_other_words_nothing_is_kept() -> None:
    (way,) = outcomes(instruction("sw a0,4(a1)"), state(a0=1, a1=WORD), masked=False)
    assert way.state.memory == {WORD: 0}
    (way,) = outcomes(instruction("sw a0,0(a1)"), state(a0=1, a1=WORD), masked=False)
    assert way.state.memory == {WORD: 1}
    assert stored(instruction("sw a0,0(a1)"), state(a0=1, a1=WORD)) == (WORD, 1)


@pytest.mark.parametrize(
    ("text", "value", "ways"),
    [
        ("beqz a0,80000200", 0, [0x80000200]),
        ("beqz a0,80000200", 1, [HERE + 4]),
        ("bnez a0,80000200", None, [0x80000200, HERE + 4]),
        ("bltz a0,80000200", 0xFFFFFFFF, [0x80000200]),
        ("bgez a0,80000200", 0x80000003, [HERE + 4]),
        ("bgeu a0,zero,80000200", None, [0x80000200, HERE + 4]),
        ("j 80000200", None, [0x80000200]),
    ],
)
def test_a_branch_leads_where_it_can(text: str, value: Value, ways: list[int]) -> None:
    given = outcomes(instruction(text, 0x80000200), state(a0=value), masked=False)
    assert [way.address for way in given] == ways


def few(*numbers: int) -> Among:
    return Among(frozenset(numbers))


@pytest.mark.parametrize(
    ("text", "before", "there", "here"),
    [
        ("bltu a1,a0,80000200", {"a1": 2}, None, few(0, 1, 2)),
        ("bgeu a1,a0,80000200", {"a1": 2}, few(0, 1, 2), None),
        ("bltu a0,a1,80000200", {"a1": 2}, few(0, 1), None),
        ("bgeu a0,a1,80000200", {"a1": 2}, None, few(0, 1)),
        ("bgtu a0,a1,80000200", {"a1": 2}, None, few(0, 1, 2)),
        ("bleu a0,a1,80000200", {"a1": 2}, few(0, 1, 2), None),
        ("bltu a0,a1,80000200", {"a0": few(1, 7), "a1": 2}, few(1), few(1, 7)),
        ("bltu a0,a1,80000200", {"a0": few(7), "a1": 2}, few(7), few(7)),
        ("blt a0,a1,80000200", {"a1": 2}, None, None),
        ("bltu a0,a1,80000200", {"a1": 257}, None, None),
        ("bltu a0,a1,80000200", {"a1": 0}, None, None),
        ("bltu a0,a1,80000200", {}, None, None),
    ],
)
def test_an_unsigned_compare_leaves_a_few_numbers(
    text: str, before: dict[str, Value], there: Value, here: Value
) -> None:
    taken, other = outcomes(instruction(text, 0x80000200), state(**before), masked=False)
    assert (taken.address, other.address) == (0x80000200, HERE + 4)
    assert (taken.state.read("a0"), other.state.read("a0")) == (there, here)


def test_words_that_nothing_writes_are_read() -> None:
    table = {0x80001000: 0x10, 0x80001004: 0x20}
    after = state(a0=few(0, 1), a1=0x80001000, a3=few(0, 1, 2))
    for text in ("sll a2,a0,0x2", "add a2,a2,a1", "lw a2,0(a2)", "add a2,a2,a1"):
        (way,) = outcomes(instruction(text), after, masked=False, constants=table.get)
        after = way.state
    assert after.read("a2") == few(0x80001010, 0x80001020)
    for text in ("add a2,a0,a3", "lw a2,0(a3)", "add a2,sp,a0", "rem a2,a0,a1"):
        (way,) = outcomes(instruction(text), after, masked=False, constants=table.get)
        assert way.state.read("a2") is None
    (way,) = outcomes(instruction("lw a2,4(a1)"), after, masked=False, constants=table.get)
    assert way.state.read("a2") == 0x20


@pytest.mark.parametrize(
    ("text", "operand", "before", "after"),
    [
        ("csrc mstatus,8", None, False, [True]),
        ("csrci mstatus,8", None, False, [True]),
        ("csrs mstatus,8", None, True, [False]),
        ("csrs mstatus,a1", MIE, True, [False]),
        ("csrs mstatus,a1", 0, True, [True]),
        ("csrs mstatus,a1", None, True, [False, True]),
        ("csrc mstatus,a1", None, False, [False, True]),
        ("csrw mstatus,a1", 0, False, [True]),
        ("csrw mstatus,a1", None, True, [True, False]),
        ("csrc mie,a1", None, True, [True]),
        ("csrr a0,mstatus", None, True, [True]),
    ],
)
def test_interrupts_go_off_and_on(
    text: str, operand: Value, before: bool, after: list[bool]
) -> None:
    given = outcomes(instruction(text), state(a1=operand), masked=before)
    assert [way.masked for way in given] == after


def test_the_old_state_of_interrupts_is_given_back() -> None:
    """As an atomic operation does without the extension A: csrrc, then csrs of what it read."""
    for masked in (False, True):
        (off,) = outcomes(instruction("csrrc a4,mstatus,8"), state(), masked=masked)
        (old,) = outcomes(instruction("and a4,a4,8"), off.state, masked=off.masked)
        (back,) = outcomes(instruction("csrs mstatus,a4"), old.state, masked=old.masked)
        assert off.masked and back.masked is masked


def test_ways_that_meet_keep_what_both_know() -> None:
    (stack,) = outcomes(instruction("sw ra,0(sp)"), state(a0=1, ra=1), masked=False)
    met = stack.state.agreeing(state(a0=2))
    assert met.read("a0") is None
    assert met.read("gp") == 0x80040800
    assert met.memory == {WORD: 0}


def test_addresses_are_added() -> None:
    assert added(Place("sp", 16), 0xFFFFFFF0) == Place("sp", 0)
    assert added(4, Place("sp", 16)) == Place("sp", 20)
    assert added(Place("sp", 16), Place("sp", 16)) is None
    assert added(None, 1) is None


def test_a_call_through_a_register_names_it() -> None:
    assert jump_register(instruction("jalr a5")) == "a5"
    assert jump_register(instruction("jr t1")) == "t1"
    assert jump_register(instruction("jalr zero,0(a4)")) == "a4"
