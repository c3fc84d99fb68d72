"""Fate trails from Python, in one file: copy it into your project. Python 3.8 or newer, nothing else.

    trail = Trail("7")                              # the first stage is at offset zero
    trail.stamp("POSTED", "orders")
    trail.stamp("TURN_START", "orders", timed=False) # ordered by its place; prints (+?)
    trail.stamp("HANDLER_ENTER", "orders", timed=False)
    trail.stamp("HANDLER_EXIT", "orders", state="processed")
    print(trail.line("handled"))

A trail belongs to one delivery and to one thread at a time. It keeps its first four and its last ten
stages and counts the rest, so that its memory is bounded. Tokens come from the registry
(`fixtures/data/contract/stages.txt`) or are an application's own with a dot inside. The text is that of
`fate-trail/docs/trail-text.md`, grammar version 1.0.
"""

import time
from datetime import datetime, timedelta

GRAMMAR_VERSION = "1.0"
HEAD_ENTRIES = 4
TAIL_ENTRIES = 10

_EPOCH = datetime(1970, 1, 1)
# Microseconds of 0000-01-01 and of 10000-01-01, between which RFC 3339 can write a time; datetime begins a
# year later, and the calendar repeats after 400 years.
_FIRST, _END, _ERA = -62_167_219_200_000_000, 253_402_300_800_000_000, 12_622_780_800_000_000
_PLAIN = frozenset(range(0x21, 0x7F)) - frozenset(b"()@=|,%\"&'<>\\")
_VERDICT = _PLAIN | frozenset(b"()@=,")


def _encode(text, plain=_PLAIN):
    raw = text.encode("utf-8", "replace")
    return "".join(chr(byte) if byte in plain else "%%%02X" % byte for byte in raw)


def _word(text):
    """A name: an id, token, hub or key. An empty one is a dash, and a dash is a code."""
    return "-" if text == "" else "%2D" if text == "-" else _encode(text)


def _verdict(text):
    """Spaces stay inside and are codes at both ends."""
    if text in ("", "-"):
        return _word(text)
    last = len(text) - 1
    return "".join(
        " " if c == " " and 0 < i < last else _encode(c, _VERDICT) for i, c in enumerate(text)
    )


def _value(value):
    """A list or tuple is joined with commas; `True` and `False` are 1 and 0."""
    if isinstance(value, AtLeast):
        return "%d+" % value.number
    if isinstance(value, (list, tuple)):
        return ",".join(_encode(str(element)) for element in value)
    return _encode(str(int(value)) if isinstance(value, bool) else str(value))


def _rfc3339(micros):
    micros = min(max(micros, _FIRST), _END - 1)
    year = 0
    if micros < _FIRST + _ERA:
        micros, year = micros + _ERA, -400
    at = _EPOCH + timedelta(microseconds=micros)
    return "%04d-%s.%06dZ" % (at.year + year, at.strftime("%m-%dT%H:%M:%S"), at.microsecond)


class AtLeast:
    """A number of which only a lower bound is known; prints with a trailing `+`."""

    def __init__(self, number):
        self.number = number


class _Way:
    """Stages in order, the middle of a long way counted and not kept."""

    def __init__(self):
        self.stages, self.missing = [], 0

    def add(self, stage):
        self.stages.append(stage)
        if len(self.stages) > HEAD_ENTRIES + TAIL_ENTRIES:
            del self.stages[HEAD_ENTRIES]
            self.missing += 1

    def text(self):
        entries = list(self.stages)
        if self.missing or not entries:
            entries.insert(HEAD_ENTRIES, "gap=%d" % self.missing)
        return " | ".join(entries)


class Trail:
    """The way of one delivery; `at` is when its first stage is, in microseconds since the Unix epoch."""

    def __init__(self, id, at="now"):
        self.id = str(id)
        self.at = time.time_ns() // 1000 if at == "now" else at
        self._start = time.monotonic_ns()
        self._way = _Way()
        self._replies = []

    def stamp(self, token, hub, timed=True, **details):
        """Stamps a stage now, with details in the order in which they are given."""
        first = not (self._way.stages or self._replies)
        now = 0 if first else (time.monotonic_ns() - self._start) // 1000
        self.stamp_at(now if timed else None, token, hub, details.items())

    def stamp_at(self, offset, token, hub, details=()):
        """Stamps a stage at that many microseconds after the first, or `None`; details are pairs."""
        time_ = "?" if offset is None else "%d.%03d" % divmod(offset, 1000)
        stage = "%s@%s(+%s)" % (_word(token), _word(hub), time_)
        pairs = ("%s=%s" % (_word(key), _value(value)) for key, value in details)
        way = self._replies[-1][1] if self._replies else self._way
        way.add(" ".join([stage, *pairs]))

    def reply(self, number):
        """What is stamped from now on stands on the way of that reply, 1 for the first."""
        self._replies.append((number, _Way()))

    def line(self, verdict=None):
        """The trail on one line, without a line break; printable ASCII only."""
        at = "" if self.at is None else " at=" + _rfc3339(self.at)
        replies = "".join(" <- reply#%d %s" % (number, way.text()) for number, way in self._replies)
        end = "" if verdict is None else " || " + _verdict(verdict)
        return "fate %s%s %s%s%s" % (_word(self.id), at, self._way.text(), replies, end)

    __str__ = line
