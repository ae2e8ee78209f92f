"""What benchmarks, searches and replays measure with: programs, the machine, statistics."""
