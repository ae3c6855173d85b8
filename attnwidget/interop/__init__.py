"""Functions of other tools that show attnwidget's views, for notebooks written for these tools.

Their calls and arrays come in, our views go out. A folder has the names of one tool: open its
`__init__.py` first.
"""
