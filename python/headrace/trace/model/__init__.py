"""What a trace holds: its files read, its facts, its tables, and each process as a user sees it."""
