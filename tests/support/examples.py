"""How many inputs Hypothesis makes for a test."""

from hypothesis import HealthCheck, settings

QUICK, THOROUGH = "quick", "thorough"
"""The names of the profiles. `make check` uses the thorough one, all other runs the quick one."""

_EXAMPLES = {QUICK: 20, THOROUGH: 100}


def load_profiles() -> None:
    """Register the profiles and load the quick one.

    Both switch off the deadline and the health check that measure time: on a busy machine they fail at random.
    """
    for name, count in _EXAMPLES.items():
        settings.register_profile(name, max_examples=count, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile(QUICK)


def examples(thorough: int) -> settings:
    """Return settings with this many inputs in the thorough profile, and proportionally fewer in any other."""
    return settings(max_examples=max(1, thorough * settings().max_examples // _EXAMPLES[THOROUGH]))
