"""The calls of other tools, showing attnwidget's views."""
