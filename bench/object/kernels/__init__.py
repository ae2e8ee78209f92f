"""What the timed processes do: each kernel has a side that writes and one that reads."""
