"""The two sentences that the tests look at."""

TEXT = "The quick brown fox jumped over the lazy dog because it was tired."
PAIR = "Then it slept in the warm sun."
