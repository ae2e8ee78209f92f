"""Decoded chunks that the processes of a node share, seen from outside."""
