"""Side-by-side benchmark of BertViz, attnwidget and almost empty pages in one browser."""
