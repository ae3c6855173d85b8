"""Compares capture with the model's own attention, for every architecture of transformers."""
