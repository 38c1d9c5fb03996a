# SPDX-License-Identifier: Apache-2.0
"""Random RV32 code whose spans take the same instructions under QEMU and on the Verilog.

A span is straight-line code and branches and jumps ahead, between the marks of
programs/known-cycles.riscv.S. The assembler compresses half of the spans, so instructions cross
the borders of words.
"""

from __future__ import annotations

from random import Random

# x5 to x7, x10 to x17 and x28 to x31; x8, x9, x18 and x19 belong to the frame around the spans.
_REGISTERS = (*("t0", "t1", "t2", "t3", "t4", "t5", "t6"), *(f"a{i}" for i in range(8)))
_BY_REGISTER = ("add", "sub", "xor", "or", "and", "sll", "srl", "sra", "slt", "sltu")
_PRODUCTS = ("mul", "mulh", "mulhu", "mulhsu")
_QUOTIENTS = ("div", "divu", "rem", "remu")
_BRANCHES = ("beq", "bne", "blt", "bge", "bltu", "bgeu")
_MEMORY_WORDS = 16  # of the memory at s3


def _compute(random: Random) -> str:
    to, a, b = (random.choice(_REGISTERS) for _ in range(3))
    return random.choice(
        (
            f"{random.choice(_BY_REGISTER)} {to}, {a}, {b}",
            f"addi {to}, {a}, {random.randint(-2048, 2047)}",
            f"addi {to}, {to}, {random.randint(1, 31)}",
            f"li {to}, {random.randint(-32, 31)}",
            f"slli {to}, {to}, {random.randint(1, 31)}",
            f"lui {to}, {random.randint(1, 0xFFFFF)}",
            f"mv {to}, {a}",
        )
    )


def _access(random: Random) -> str:
    sizes = {"lw": 4, "lh": 2, "lbu": 1, "sw": 4, "sh": 2, "sb": 1}
    name = random.choice([*sizes])
    offset = random.randrange(0, 4 * _MEMORY_WORDS, sizes[name])
    return f"{name} {random.choice(_REGISTERS)}, {offset}(s3)"


def _multiply(random: Random) -> str:
    to, a, b = (random.choice(_REGISTERS) for _ in range(3))
    return f"{random.choice(_PRODUCTS)} {to}, {a}, {b}"


def _divide(random: Random) -> str:
    """By 7: a division by zero is one of the cases that the model leaves out."""
    to, a = (random.choice(_REGISTERS) for _ in range(2))
    return f"li t6, 7\n    {random.choice(_QUOTIENTS)} {to}, {a}, t6"


def _ahead(random: Random) -> str:
    """A branch or jump over at least one instruction; whether it is taken depends on the data."""
    a, b = (random.choice(_REGISTERS) for _ in range(2))
    jump = random.choice(("j 1f", *(f"{name} {a}, {b}, 1f" for name in _BRANCHES)))
    over = "\n    ".join(_compute(random) for _ in range(random.randint(1, 4)))
    return f"{jump}\n    {over}\n1:"


def span(random: Random) -> str:
    """The code of one span, without its marks."""
    kinds = (_compute, _access, _multiply, _divide, _ahead)
    pieces = random.choices(kinds, weights=(10, 5, 2, 1, 4), k=random.randint(4, 24))
    return "\n    ".join(piece(random) for piece in pieces)


def program(spans: list[str]) -> str:
    """An assembler file with all spans, each of them executed once."""
    marked = "\n".join(
        f"    .option {'rvc' if i % 2 else 'norvc'}\n    sw s1, 0(s0)\n    {code}\n    sw s2, 0(s0)"
        for i, code in enumerate(spans)
    )
    values = "\n".join(f"    li {name}, {3 * i - 20}" for i, name in enumerate(_REGISTERS))
    return f"""
    .section .text.start, "ax"
    .globl _start
    .option norvc
    j    _start /* QEMU begins here, the Verilog at _start */
    .balign 128
_start:
    la   s0, kdz_scope_marker
    la   s3, words
    li   s1, 1
    li   s2, 2
{values}
    li   s4, 0x00010007
    sw   s4, 0(s0)
{marked}
    .option norvc
    li   s4, 0x00020007
    sw   s4, 0(s0)
    li   s4, 0x00100000
    li   s5, 0x5555
    sw   s5, 0(s4)
2:  j    2b

    .bss
    .balign 4
    .globl kdz_scope_marker
    .type kdz_scope_marker, @object
    .size kdz_scope_marker, 4
kdz_scope_marker:
    .space 4
words:
    .space {4 * _MEMORY_WORDS}
"""
