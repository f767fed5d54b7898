"""NumPy's legacy random draws, as LlamaFactory uses them for `num_samples` (seed 42), without NumPy."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator


def draw(rows: int, wanted: int, seed: int = 42) -> Iterator[int]:
    """The indexes of `num_samples: wanted` over `rows` rows: a permutation, cut or filled up with random repeats.

    Same as `np.random.seed(seed)`, `permutation(rows)[:wanted]`, `choice(rows, missing)`.
    """
    word = _words(seed)
    order = list(range(rows))
    for last in range(rows - 1, 0, -1):
        other = _bounded(word, last)
        order[last], order[other] = order[other], order[last]
    missing = wanted - min(wanted, rows)
    yield from order[:wanted]
    for _ in range(missing):
        yield _bounded(word, rows - 1)


def _words(seed: int) -> Callable[[], int]:
    """The 32-bit words of a Mersenne Twister seeded as NumPy seeds it: Python's own generator, its state set."""
    state = [seed & 0xFFFFFFFF]
    for at in range(1, 624):
        state.append((1812433253 * (state[-1] ^ (state[-1] >> 30)) + at) & 0xFFFFFFFF)
    generator = random.Random()
    generator.setstate((3, (*state, 624), None))
    return lambda: generator.getrandbits(32)


def _bounded(word: Callable[[], int], top: int) -> int:
    """A number from 0 to `top`: masked words until one fits; no word is used when there is no choice."""
    if top == 0:
        return 0
    mask = (1 << top.bit_length()) - 1
    while (value := word() & mask) > top:
        pass
    return value
