"""Thinc layers and models."""

from .chain_scores import ChainScores as ChainScores
from .chain_tagger import build_chain_tagger as build_chain_tagger
from .clusters import Clusters as Clusters
from .explain import token_features as token_features
from .extractor import Extractor as Extractor
from .feature_table import FeatureTable as FeatureTable
from .feature_table import groups_of as groups_of
from .gazetteers import Gazetteers as Gazetteers
from .gazetteers import Names as Names
from .gazetteers import read_names as read_names
from .hashed_features import build_hashed_features as build_hashed_features
from .hashed_features import parts_of as parts_of
from .hashed_features import set_states as set_states
from .lexemes import ATTRIBUTES as ATTRIBUTES
from .lexemes import CODES as CODES
from .lexemes import Lexemes as Lexemes
from .lexemes import hashed as hashed
from .objectives import get_objective as get_objective
from .separator_mean import build_separator_mean as build_separator_mean
from .tag_chain import TagChain as TagChain
from .templates import TEMPLATES as TEMPLATES
from .templates import read_templates as read_templates
