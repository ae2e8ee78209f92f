"""Whether advice gains what it says it would."""
