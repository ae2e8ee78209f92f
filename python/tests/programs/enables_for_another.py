"""Puts null below another program: enables_for_another.py REPORT PROGRAM ARGUMENT..."""

import runpy
import sys

import headrace

headrace.enable("null", report=sys.argv[1], log_level="debug")
del sys.argv[:2]
runpy.run_path(sys.argv[0], run_name="__main__")
