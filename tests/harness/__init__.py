"""What every interoperability test needs: running, limiting, comparing, reading reports."""
