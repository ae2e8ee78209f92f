"""Searches for settings by replaying a trace: `headrace tune`.

`space` has what may be tried, `search` tries it, `confirm` compares what was found with native HDF5
and finds out what each setting of it gains, `written` writes and reads the configuration.
"""
