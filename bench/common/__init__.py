"""What the benchmarks of layers have in common: how runs are proven and judged, and told of."""
