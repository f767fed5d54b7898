"""What stands around texts that take turns, by how many they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec

from dsreg.fast.search import is_blank

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
    kept: int = field(default=0, init=False)

    def __missing__(self, count: int) -> Shape:
        if not count or count % 2 != self.odd or (self.single and count > 2):
            return Shape(None, [], 0)
        frame = self.frames.of(count - self.taken)
        cost = count // 2 * self.pair_cost - sum(map(len, frame))
        shape = Shape([self.roles[i % 2] for i in range(count)], frame, cost)
        if count < MAX_KEPT:
            self[count] = shape
        return shape


def lay_out_earlier(frames: Frames, end: bytes, *, not_blank: bool) -> Callable[[bytes], bytes | None]:
    """A function that lays out a history of question and answer; None for one that is more than pairs of texts."""
    decode = msgspec.json.Decoder(list[tuple[msgspec.Raw, msgspec.Raw]]).decode

    def bad(text: bytes) -> bool:
        return text[0] != 34 or text[1] == 34 or (not_blank and is_blank(text))

    def earlier(value: bytes) -> bytes | None:
        try:
            texts = [bytes(text) for turn in decode(value) for text in turn]
        except msgspec.DecodeError:
            return None
        if any(map(bad, texts)):
            return None
        pieces = frames.of(len(texts))
        pieces[1::2] = texts
        made = b"".join(pieces)
        return made + end if made else made

    return earlier
