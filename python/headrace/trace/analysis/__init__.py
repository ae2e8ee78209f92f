"""What follows from a trace: sums, advice, hazards, and how near it is to others."""
