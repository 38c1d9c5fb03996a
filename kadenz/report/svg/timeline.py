# SPDX-License-Identifier: Apache-2.0
"""A timeline: one row for each thread, handler and kind of mark, time to the right."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from xml.sax.saxutils import escape

from kadenz.config.timeline import Slice, Timeline, Track, TrackKind
from kadenz.report.svg.element import el, text, title
from kadenz.report.svg.legend import LETTER, Key, Legend
from kadenz.report.svg.panel import Panel, Plot
from kadenz.report.svg.style import series

WIDTH = 1020.0
_LEFT = 170.0
_LEFT_NARROW = 100.0  # on a phone
ROW = 24.0
_AXIS = 20.0  # figures below the rows
_EDGE = 10.0  # left of the legend
_LABELS = 0.88  # of the space left of the rows
_LEAST = 0.6  # pixels of a bar
# Of each kind: the number of its colour, and what its bars are.
_KINDS: dict[TrackKind, tuple[int, str]] = {
    "sample": (0, "from BEGIN to END"),
    "thread": (1, "the thread executes"),
    "call": (2, "inside the kernel's function, also while others execute"),
    "exception": (3, "the handler executes"),
    "wait": (0, "released, not started"),
    "period": (1, "started, not completed, also while others execute"),
    "frame": (2, "the frame is on its way"),
    "lost": (4, "events were lost: nothing is known"),
}
_SHOWN = 2  # samples in the picture
_EXECUTIONS = 8  # of threads, at most, in a picture without samples
_PAUSE = 20  # times the median execution: a longer one ends the picture
_CYCLES = 2  # of the task with most periods, in a picture of periods
_MARGIN = 0.06  # of the window, on both sides
_STEPS = (1, 2, 5)


def timeline_picture(
    timeline: Timeline, window: tuple[int, int], name: str, width: float = WIDTH
) -> Plot:
    """Draws what happens in a window of the timeline; the tooltip of each bar has its figures."""
    begin, end = window
    rows = [(track, _inside(track, window)) for track in timeline.tracks]
    rows = [(track, slices) for track, slices in rows if slices]
    heading = f"{timeline.bench} on {timeline.target}"
    sampled = bool(rows) and rows[0][0].kind == "sample"
    since = "the first BEGIN shown" if sampled else "the left edge"
    kinds = dict.fromkeys(track.kind for track, _ in rows)
    legend = Legend([Key(_KINDS[kind][1], _style(kind)) for kind in kinds], _EDGE, width)
    panel = Panel(
        heading,
        f"{timeline.units} since {since}; {end - begin:,} in all",
        height=84.0 + ROW * len(rows) + legend.height,
        left=_LEFT if width >= WIDTH else _LEFT_NARROW,
        width=width,
        right=width - 10,
    )
    zero = (
        next((sample.begin for sample in rows[0][1] if sample.begin >= begin), begin)
        if sampled
        else begin
    )
    scale = (panel.right - panel.left) / max(end - begin, 1)
    bottom = panel.top + ROW * len(rows)
    for at in _ticks(begin - zero, end - zero, 10 if width >= WIDTH else 4):
        x = panel.left + (at + zero - begin) * scale
        panel.add(el("line", x1=x, x2=x, y1=panel.top, y2=bottom + 4, class_="grid"))
        tick = f"{at:,}"
        if x + LETTER * len(tick) / 2 < width:
            panel.add(text(x, bottom + 18, tick, anchor="middle"))
    for number, (track, slices) in enumerate(rows):
        y = panel.top + ROW * number
        row_label = _fitting(label(track), _LABELS * panel.left)
        panel.add(text(panel.left - 8, y + 15, row_label, anchor="end"))
        for slice_ in slices:
            figures = f"{slice_.name}: {slice_.end - slice_.begin:,} {timeline.units}"
            panel.add(el("g", _bar(panel, track, slice_, y, window, scale), title(figures)))
    panel.add(legend.drawn(bottom + _AXIS))
    return panel.finish(name, f"{heading}: {len(rows)} rows over {end - begin:,} {timeline.units}.")


def window_of(timeline: Timeline) -> tuple[int, int]:
    """Two samples behind the first, which is cold, with a margin; one if a long pause follows.

    In a record without samples, a few executions of its threads from the middle; of periodic tasks,
    the cycles from a period of the task that has the fewest.
    """
    if periods := [
        track.slices for track in timeline.tracks if track.kind == "period" and track.slices
    ]:
        return _cycles(periods)
    samples = next((track.slices for track in timeline.tracks if track.kind == "sample"), [])
    shown: Sequence[Slice] = _without_pause((samples[1:] or samples)[:_SHOWN])
    if not shown:
        threads = (track.slices for track in timeline.tracks if track.kind == "thread")
        shown = _burst(
            sorted((slice_ for all_ in threads for slice_ in all_), key=lambda slice_: slice_.begin)
        )
    if not shown:
        return timeline.begin, timeline.end
    margin = max(1, int((shown[-1].end - shown[0].begin) * _MARGIN))
    begin = max(timeline.begin, shown[0].begin - margin)
    return begin, min(timeline.end, shown[-1].end + margin)


def _without_pause(samples: Sequence[Slice]) -> Sequence[Slice]:
    """The first ones, up to a pause that would make the samples thin lines."""
    for number, (sample, following) in enumerate(pairwise(samples), start=1):
        if following.begin - sample.end > _PAUSE * (sample.end - sample.begin):
            return samples[:number]
    return samples


def _cycles(periods: Sequence[Sequence[Slice]]) -> tuple[int, int]:
    """Some cycles, from shortly before a period of the task with the fewest."""
    rare, often = min(periods, key=len), max(periods, key=len)
    middle = rare[len(rare) // 2]
    cycle = (often[-1].begin - often[0].begin) // max(len(often) - 1, 1)
    cycle = cycle or middle.end - middle.begin
    begin = middle.begin - cycle // 5
    return begin, begin + _CYCLES * cycle


def _burst(slices: Sequence[Slice]) -> Sequence[Slice]:
    """Executions around the middle one, without long pauses between them."""
    if not slices:
        return slices
    near = (
        _PAUSE * sorted(execution.end - execution.begin for execution in slices)[len(slices) // 2]
    )
    first = last = len(slices) // 2
    while (
        first and last - first < _EXECUTIONS and slices[first].begin - slices[first - 1].end < near
    ):
        first -= 1
    while last + 1 < len(slices) and last - first < _EXECUTIONS:
        if slices[last + 1].begin - slices[last].end >= near:
            break
        last += 1
    return slices[first : last + 1]


def label(track: Track) -> str:
    """ "task_2", "task_2: calls", "PendSV_Handler", "BEGIN to END"."""
    if track.kind == "sample":
        return "BEGIN to END"
    behind = {"call": ": calls", "wait": ": released"}
    return track.name + behind.get(track.kind, "")


def _style(kind: TrackKind) -> str:
    return f"d{series(_KINDS[kind][0])}"


def _bar(
    panel: Panel, track: Track, slice_: Slice, y: float, window: tuple[int, int], scale: float
) -> str:
    first, last = max(slice_.begin, window[0]), min(slice_.end, window[1])
    x = panel.left + (first - window[0]) * scale
    width = (last - first) * scale
    drawn = el(
        "rect",
        x=x,
        y=y + 2,
        width=max(width - 0.4, _LEAST),
        height=ROW - 5,
        class_=_style(track.kind),
    )
    if short := _fitting(slice_.name, width - 6):
        drawn += el("text", escape(short), x=x + 3, y=y + 15, style="fill:var(--paper)")
    return drawn


def _fitting(name: str, pixels: float) -> str:
    """As much of the name as fits; "" for less than three letters."""
    letters = int(pixels / LETTER)
    if letters < 3:
        return ""
    return name if len(name) <= letters else name[: letters - 1] + "…"


def _inside(track: Track, window: tuple[int, int]) -> list[Slice]:
    return [
        slice_ for slice_ in track.slices if slice_.begin < window[1] and slice_.end > window[0]
    ]


def _ticks(begin: int, end: int, most: int) -> Sequence[int]:
    """About `most` round numbers from `begin` to `end`, at equal distances."""
    step = next(
        step * 10**power
        for power in range(20)
        for step in _STEPS
        if step * 10**power * most >= end - begin
    )
    return range(-(-begin // step) * step, end + 1, step)
