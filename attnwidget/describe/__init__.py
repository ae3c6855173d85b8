"""Descriptions in words, for a reader without eyes on a view, or a program.

In come a record, a profile, a comparison, scores or what a view shows; out goes text of at most 60
lines in a fixed order, in which nothing is called large or strong without its number. Open
`describe.py` first.
"""
