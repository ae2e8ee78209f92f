"""Files that a program has read: copied, or where they are gone made of what the trace knows."""
