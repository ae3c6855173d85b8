"""Functions of other tools that show attnwidget's views."""
