"""Stored pictures stay while nobody sees a difference, and go when somebody would."""

import io

import numpy as np
from execute import look_the_same
from PIL import Image


def png(levels):
    file = io.BytesIO()
    Image.fromarray(np.clip(levels, 0, 255).astype(np.uint8)).save(file, "PNG")
    return file.getvalue()


def test_rounding_is_not_seen_and_a_line_that_moves_by_a_pixel_is():
    curve = np.full((60, 100, 3), 255.0)  # a line of two pixels across white
    for x in range(100):
        curve[20 + x // 5 : 22 + x // 5, x] = [0, 90, 180]
    one, part = curve.copy(), curve.copy()
    one[30, 50] -= 100
    part[:, 40:48] = np.roll(curve[:, 40:48], 1, axis=0)
    noise = np.random.default_rng(1).integers(-3, 4, curve.shape)
    for same in (curve + noise, one):
        assert look_the_same(png(curve), png(same))
    for other in (part, np.roll(curve, 1, axis=1), curve[:-1], curve - 10):
        assert not look_the_same(png(curve), png(other))
