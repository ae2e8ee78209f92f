"""`headrace tune`."""
