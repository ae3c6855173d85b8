"""Figures of what a widget shows."""
