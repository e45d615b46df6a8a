from .winnow_python import winnow as winnow
