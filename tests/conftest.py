"""What holds for every test."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# How fast the machine is must not decide whether a test passes.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")
