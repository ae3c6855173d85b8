"""What a view shows, as traits that follow each other and can be set from Python."""
