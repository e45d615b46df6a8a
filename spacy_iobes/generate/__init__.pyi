"""Invented documents of any size, with flat or nested mentions, and with violations on purpose."""

from .corpus import DEPTH as DEPTH
from .corpus import LABELS as LABELS
from .corpus import GeneratedCorpus as GeneratedCorpus
from .corpus import GeneratedSentence as GeneratedSentence
from .corpus import generated as generated
from .corpus import limited as limited
from .grammar import form as form
from .grammar import invented as invented
from .violations import Flaws as Flaws
from .violations import Planter as Planter
