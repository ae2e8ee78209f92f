"""What the log layer gains and costs where writes are scattered."""
