"""What the rules of the layer tune gain, and what they cost where they have nothing to do."""
