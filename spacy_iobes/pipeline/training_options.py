"""What a command may say of a training beside its data."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..corpus.formats.options import option
from ..errors import SettingError


@dataclass(frozen=True)
class TrainingOptions:
    """How to train; None and "" leave it to the config."""

    config: str = option(
        "",
        "A config file of your own, or ner_fast (the default), ner_cnn, ner_wide_deep; with "
        "--nested nested_fast (its default), nested_cnn, nested_mean, nested_wide_deep.",
    )
    model_scheme: str = option("", "Scheme of the model itself (default: iobes).")
    epochs: int | None = option(None, "Train for so many passes over TRAIN.")
    max_steps: int | None = option(None, "Train for at most so many steps.")
    seed: int | None = option(
        None, "Of the random numbers, and of what is held out (default: that of the config, or 0)."
    )
    lang: str = field(default="")
    """Language of the pipeline; no option, since reading has it already."""

    def __post_init__(self) -> None:
        for name, least in (("epochs", 1), ("max_steps", 1), ("seed", 0)):
            value = getattr(self, name)
            if value is not None and value < least:
                spelling = f"--{name.replace('_', '-')}"
                raise SettingError(f"{spelling} is {least} or more, not {value}.")
        if self.epochs is not None and self.max_steps is not None:
            raise SettingError("Say how long in one way: --epochs or --max-steps.")
