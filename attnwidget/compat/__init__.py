"""The former name of `attnwidget.interop`, kept for one version."""
