"""What the layer object gains, and what it costs."""
