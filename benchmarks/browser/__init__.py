"""BertViz, attnwidget and pages that do next to nothing, side by side in one browser."""
