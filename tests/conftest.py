"""Hypothesis without surprises: the same examples on every machine, however slow it is."""

from hypothesis import settings

settings.register_profile("suite", deadline=None, derandomize=True, max_examples=200)
settings.register_profile("hunt", deadline=None, max_examples=5000)
settings.load_profile("suite")  # pytest --hypothesis-profile=hunt looks for new counterexamples
