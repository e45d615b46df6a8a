"""The configs that ship with the package, and any other, with every trouble told in one line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from spacy.util import load_config
from thinc.api import Config, ConfigValidationError

from ..codes.policy import POLICIES
from ..errors import FileError, IobesError, UnknownNameError

PACKAGE = Path(__file__).parents[1]
FOLDERS = (PACKAGE / "configs", PACKAGE.parent / "configs")  # as installed, or in a clone
LONGEST = 400  # characters of what others say
INSTEAD = {"repair": "policy", "gold_repair": "gold_policy"}
"""Keys of scorers in configs of version 0.1.0, and what they are called."""


def shipped() -> dict[str, Path]:
    """The configs that ship with the package, by name."""
    found = [path for folder in reversed(FOLDERS) for path in sorted(folder.glob("*.cfg"))]
    return {path.stem: path for path in found}


def config_file(name: str) -> Path:
    """A file, or one of the configs that ship with the package; those of recognisers are told."""
    path, known = Path(name), shipped()
    if path.is_file():
        return path
    if name not in known:
        ours = [each for each in known if each.startswith(("ner_", "nested_"))]
        message = f"{name}: there is no such file, and no config of that name. Known: "
        raise UnknownNameError(f"{message}{', '.join(ours)}; or name a file.", name, ours)
    return known[name]


def read_config(name: str) -> Config:
    """A config as it was written, its variables still in it."""
    path = config_file(name)
    with explained(str(path)):
        try:
            return load_config(path, interpolate=False)
        except (OSError, UnicodeDecodeError) as error:
            raise FileError(f"{path}: cannot be read: {error}.", str(path)) from error


def overridden(config: Config, overrides: Mapping[str, Any]) -> Config:
    """A config with other values; only what is in it can be overridden."""
    for name in overrides:
        *sections, key = name.split(".")
        found: Any = config
        for section in sections:
            found = found.get(section) if isinstance(found, dict) else None
        if not isinstance(found, dict) or key not in found:
            known = ", ".join(found) if isinstance(found, dict) and sections else ""
            there = f" {'.'.join(sections)} has: {known}." if known else ""
            message = f"There is no setting {name!r} to override.{there}"
            raise UnknownNameError(f"{message} --print-config shows the config.", name)
    with explained("the overrides"):
        return Config().from_str(config.to_str(), interpolate=False, overrides=dict(overrides))


def require_plain(settings: Mapping[str, Any]) -> None:
    """Refuse settings that a config would take for variables: `$` is not read back as written."""
    for name, value in settings.items():
        if any("$" in each for each in (value if isinstance(value, list) else [str(value)])):
            found, advice = f"{name} = {value!r}", "Name another."
            if name == "path":
                found, advice = value, "Rename it, link to it, or name it from its own directory."
            message = f"{found}: has a $ in it, which begins a variable in the configs of spaCy."
            raise FileError(f"{message} {advice}", value if name == "path" else "")


@contextmanager
def explained(name: str) -> Iterator[None]:
    """What spaCy and thinc say of a config that cannot be used, as an error of ours."""
    try:
        yield
    except ConfigValidationError as error:
        message = f"{name}: not a config that can be used: {unusable(error)}"
        raise FileError(message, name) from error
    except IobesError:
        raise
    except ValueError as error:  # a name that is not registered, or settings that do not fit
        reason = str(error)[:LONGEST] + "…" * (len(str(error)) > LONGEST)
        raise FileError(f"{name}: not a config that can be used: {reason}", name) from error


def unusable(error: ConfigValidationError) -> str:
    """Return what is wrong with a config, and what to write where a policy is missing."""
    details = [f"{_place(each)}{each['msg']}" for each in error.errors or ()]
    keys = {str(each["loc"][-1]) for each in error.errors or () if each.get("loc")}
    details += [f"write {new} in place of {old}" for old, new in INSTEAD.items() if old in keys]
    if "policy" in keys and "repair" not in keys:
        details.append(f'write policy = "raise", for example: one of {", ".join(POLICIES)}')
    return "; ".join(details) or str(error.desc or error)


def _place(error: Mapping[str, Any]) -> str:
    place = " -> ".join(str(part) for part in error.get("loc", ()))
    return f"{place}: " if place else ""
