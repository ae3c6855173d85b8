"""Which document is asked for? Head 18-6 gives it .62 of the question's attention, most of 270 heads

Each picture has four rows and columns: three documents, and the question, whose
row is the last.
"""

from transformers import AutoModelForCausalLM, AutoTokenizer

import attnwidget as aw

name = "HuggingFaceTB/SmolLM2-135M-Instruct"
model, tokenizer = AutoModelForCausalLM.from_pretrained(name), AutoTokenizer.from_pretrained(name)
text = (
    "The library of Hartwell opened in 1911. Its globe shows an island that does not exist. "
    "The clock of Hartwell was made in Geneva. It runs four minutes slow. "
    "The market of Hartwell is held on Saturdays. Its oldest stall sells smoked eel. "
    "The clock of Hartwell was made in"
)
parts = [(0, 23, "library"), (23, 39, "clock"), (39, 58, "market"), (58, 66, "question")]
record = aw.analysis.by_segments(aw.capture(model, tokenizer, text), parts)
aw.model_view(record, layer=18, head=6)

# Claims
import numpy as np

to_clock = np.array([[record.weights(n, h)[3, 1] for h in range(9)] for n in range(30)])
assert divmod(int(to_clock.argmax()), 9) == (18, 6) and f"{to_clock.max():.2f}" == "0.62"
