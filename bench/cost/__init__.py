"""What operations cost under each layer, in instructions."""
