"""Run a module as `python -m` does, but never one of the working directory.

`python -m` prefers the package beside project.yml, which is not compiled, to the installed one.
"""

import sys
from runpy import run_module

del sys.argv[0]  # what is left is the command line of the module
run_module(sys.argv[0], run_name="__main__", alter_sys=True)
