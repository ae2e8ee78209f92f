"""What a Python program asks of the layer `object` (docs/guide/object.md)."""

from headrace.object.maps import Map

__all__ = ["Map"]
