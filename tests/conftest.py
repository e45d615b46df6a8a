"""Hypothesis without surprises, the same examples on every machine; benchmarks can be imported."""

import os
import sys
import warnings
from pathlib import Path

import spacy
from hypothesis import settings

# The last place to look, so that the package is the one that was installed.
sys.path.append(str(Path(__file__).parents[1]))
# The same for the processes that tests start: none takes the package of the working directory,
# which is not compiled. (Python 3.10 does not know this variable: start pytest elsewhere there.)
os.environ["PYTHONSAFEPATH"] = "1"

settings.register_profile("suite", deadline=None, derandomize=True, max_examples=200)
settings.register_profile("hunt", deadline=None, max_examples=5000)
settings.load_profile("suite")  # pytest --hypothesis-profile=hunt looks for new counterexamples

with warnings.catch_warnings():  # what other plugins have to say when spaCy loads them
    warnings.simplefilter("ignore")
    spacy.blank("en")
