"""What the layer cache gains, and what it costs."""
