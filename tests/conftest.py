"""Settings of all tests: examples that are the same in every run, no clock."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "book",
    deadline=None,
    derandomize=True,
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("book")
