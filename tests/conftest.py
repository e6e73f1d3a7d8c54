"""Settings of all tests: examples that are the same in every run, and no clock in any of them."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "book", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("book")
