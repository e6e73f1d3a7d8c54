"""Means of vectors, with lengths in place of distances on a line; and approximate privacy."""

from userdp.vectors._ball import (
    ball_error,
    ball_mean_error,
    ball_threshold,
    clip_to_ball,
    mean_in_ball,
)
from userdp.vectors._gaussian import GaussianNoise

__all__ = [
    "GaussianNoise",
    "ball_error",
    "ball_mean_error",
    "ball_threshold",
    "clip_to_ball",
    "mean_in_ball",
]
