"""`headrace trace` and what is made of traces: `export` and `report`."""
