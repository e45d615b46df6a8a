"""A package, so that test modules can share code; run `pytest` (8.2 or later) from the root.

With `--import-mode=importlib` the root is not put on `sys.path`: the installed package is tested.
`python -m pytest` would put it there; set PYTHONSAFEPATH=1 with that.
"""
