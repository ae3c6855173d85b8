"""The choices that a view has, checked against the record it shows.

In come keyword arguments and what a reader chose; out go `Choices`, traits of which every value
exists in the record. Open `table.py` first: it declares each choice once, for both languages.
"""

from .choices import CHOICES, WITHOUT_TEXT, Choices, check_names, choice_values, no_choice
from .shown import ShownRecord
from .table import NO_SIZE, PAIR, SIMILARITY, ChoiceOptions, View

__all__ = [
    "CHOICES",
    "NO_SIZE",
    "PAIR",
    "SIMILARITY",
    "WITHOUT_TEXT",
    "ChoiceOptions",
    "Choices",
    "ShownRecord",
    "View",
    "check_names",
    "choice_values",
    "no_choice",
]
