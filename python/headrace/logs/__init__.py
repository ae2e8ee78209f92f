"""The logs that the log layer leaves beside files, and how they come into the files."""
