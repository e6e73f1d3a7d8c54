"""Stored pictures stay while nobody sees a difference, and go when somebody would."""

import base64
import io

import numpy as np
import pytest
from PIL import Image
from refresh import look_the_same


def png(levels):
    file = io.BytesIO()
    Image.fromarray(np.clip(levels, 0, 255).astype(np.uint8)).save(file, "PNG")
    return base64.b64encode(file.getvalue()).decode()


@pytest.fixture
def curve():
    """A line of two pixels across white."""
    levels = np.full((60, 100, 3), 255.0)
    for x in range(100):
        levels[20 + x // 5 : 22 + x // 5, x] = [0, 90, 180]
    return levels


def test_rounding_of_an_edge_is_not_seen(curve):
    noise = np.random.default_rng(1).integers(-3, 4, curve.shape)
    assert look_the_same(png(curve), png(curve + noise))
    one = curve.copy()
    one[30, 50] -= 100
    assert look_the_same(png(curve), png(one))


def test_a_line_that_moves_by_a_pixel_is_seen(curve):
    moved = curve.copy()
    moved[:, 40:48] = np.roll(curve[:, 40:48], 1, axis=0)
    assert not look_the_same(png(curve), png(moved))
    assert not look_the_same(png(curve), png(np.roll(curve, 1, axis=1)))
    assert not look_the_same(png(curve), png(curve[:-1]))
    assert not look_the_same(png(curve), png(curve - 10))
