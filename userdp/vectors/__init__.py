"""Means of vectors: the core's problem, with lengths in place of distances on a line."""

from userdp.vectors._ball import (
    ball_error,
    ball_mean_error,
    ball_threshold,
    clip_to_ball,
    mean_in_ball,
)

__all__ = ["ball_error", "ball_mean_error", "ball_threshold", "clip_to_ball", "mean_in_ball"]
