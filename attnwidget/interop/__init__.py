"""The calls of other tools, so that a notebook written for them runs with another import."""
