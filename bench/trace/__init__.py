"""What the layer `trace` costs."""
