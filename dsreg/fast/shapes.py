"""What stands around texts that take turns, by how many they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

MAX_KEPT = 1000


class Shape(NamedTuple):
    """The roles that a number of turns must have, what stands around their texts, and what they cost in the data.

    Every second place of the frame is a text's. The cost is how many bytes compact turns take more than the frame.
    """

    roles: list[str] | None
    frame: list[bytes]
    cost: int


@dataclass
class Frames:
    """Lays out texts that take turns: `pair` is what stands before, between and after the two of a pair."""

    pair: list[bytes]
    user_end: bytes

    def of(self, count: int) -> list[bytes]:
        """What stands around that many texts."""
        frame = [b""] * (2 * count + 1)
        for i in range(count):
            frame[2 * i] += (b"," if i and not i % 2 else b"") + self.pair[i % 2]
            frame[2 * i + 2] = self.pair[2] if i % 2 else b""
        if count % 2:
            frame[-1] = self.user_end
        return frame


@dataclass
class Shapes(dict[int, Shape]):
    """The shape of every number of turns; no roles fit where the number does not.

    `taken` of the last texts stand elsewhere than in the frame; `odd` numbers of turns end with the user's.
    """

    frames: Frames
    roles: tuple[str, str]
    pair_cost: int
    taken: int
    odd: bool
    single: bool

    def __missing__(self, count: int) -> Shape:
        if not count or count % 2 != self.odd or (self.single and count > 2):
            return Shape(None, [], 0)
        frame = self.frames.of(count - self.taken)
        cost = count // 2 * self.pair_cost - sum(map(len, frame))
        shape = Shape([self.roles[i % 2] for i in range(count)], frame, cost)
        if count < MAX_KEPT:
            self[count] = shape
        return shape


class Pairs(dict[int, tuple[list[bytes], int]]):
    """What stands around that many texts of a history of question and answer, and the cost of a history of them."""

    def __init__(self, frames: Frames, end: bytes) -> None:
        self._frames = frames
        self._end = end

    def __missing__(self, count: int) -> tuple[list[bytes], int]:
        frame = self._frames.of(count)
        frame[-1] += self._end
        found = frame, 2 * count + 1 - sum(map(len, frame))
        if count < MAX_KEPT:
            self[count] = found
        return found
