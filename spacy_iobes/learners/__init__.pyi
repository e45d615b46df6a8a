"""Learners on features found once: they know features and classes, and nothing of Docs."""

from .batches import Epoch as Epoch
from .gradients import Crf as Crf
from .gradients import Softmax as Softmax
from .gradients import sharing as sharing
from .known import LEARNERS as LEARNERS
from .known import get_learner as get_learner
from .known import make_learner as make_learner
from .options import Options as Options
from .step_weights import StepWeights as StepWeights
from .winnow import Winnow as Winnow
from .winnow import fitted as fitted
