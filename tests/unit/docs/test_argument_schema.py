"""The extension's schema of `attach` and `launch` is made from the adapter's settings."""

from typing import Any, Literal

import pytest

from raydap.core.settings import AttachSettings
from support import argument_schema


def test_the_schema_of_launch_json_is_that_of_the_settings() -> None:
    """`python -m support.argument_schema` renews it."""
    assert argument_schema.MANIFEST.read_text("utf-8") == argument_schema.manifest()


class Settings(AttachSettings, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Settings with a new argument."""

    speed: Literal["slow", "quick"] = "quick"


@pytest.fixture
def texts() -> dict[str, Any]:
    """Return the texts of all arguments but `speed`, without those of the choices."""
    made = argument_schema.properties(AttachSettings, argument_schema.texts()["arguments"])
    return {name: {"choices": dict.fromkeys(each["enum"], "")} if "enum" in each else {} for name, each in made.items()}


def test_a_new_argument_needs_a_text_and_each_choice_one(texts: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"arguments\.json has no text for speed"):
        argument_schema.properties(Settings, texts)
    texts["speed"] = {"choices": {"quick": "Quickly"}}
    with pytest.raises(ValueError, match=r"arguments\.json describes other choices of speed"):
        argument_schema.properties(Settings, texts)
    texts["speed"] = {"choices": {"quick": "Quickly", "slow": "Slowly"}}
    assert argument_schema.properties(Settings, texts)["speed"] == {
        "type": "string",
        "enum": ["quick", "slow"],
        "enumDescriptions": ["Quickly", "Slowly"],
        "default": "quick",
    }
