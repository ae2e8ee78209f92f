"""Makes the recorded calls of a program again, on made data and under any stack."""
