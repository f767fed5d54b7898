"""The draws of `num_samples`, as NumPy gives them with seed 42."""

from __future__ import annotations

import pytest

from dsreg.llamafactory.sampling import draw


@pytest.mark.parametrize(
    ("rows", "wanted", "indexes"),
    [
        (2, 5, [1, 0, 1, 0, 0]),
        (10, 15, [8, 1, 5, 0, 7, 2, 9, 4, 3, 6, 2, 6, 7, 4, 3]),
        (1, 3, [0, 0, 0]),
        (1000, 3, [521, 737, 740]),
        (3, 0, []),
    ],
)
def test_draws_are_those_of_numpy(rows: int, wanted: int, indexes: list[int]) -> None:
    assert list(draw(rows, wanted)) == indexes


def test_without_repeats_a_draw_is_a_permutation() -> None:
    assert sorted(draw(500, 500)) == list(range(500))
