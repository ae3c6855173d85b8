"""A head that listens in order: for each word, 2-4 of Whisper hears a later moment

The spectrogram stands for the sound, time from left to right. The row of “it” is
locked, which wrote “leaves”. speech.wav is three seconds of the synthesizer eSpeak NG: “A good map shows what it leaves out.”
"""

from scipy.io import wavfile
from transformers import AutoProcessor, WhisperForConditionalGeneration

import attnwidget as aw

name = "openai/whisper-tiny.en"
model = WhisperForConditionalGeneration.from_pretrained(name)
processor = AutoProcessor.from_pretrained(name)
rate, sound = wavfile.read("speech.wav")
inputs = processor(sound / 2**15, sampling_rate=rate, return_tensors="pt")
aw.show(model, processor, inputs, stack="cross", layer=2, head=4, query=7)

# Claims
record = shown.record
words, _ = record.tokens("cross")
assert words[2:] == ["A", "good", "map", "shows", "what", "it", "leaves", "out", "."]
heard = record.weights(2, 4, "cross")[1:-1].argmax(axis=1)
assert (heard[1:] > heard[:-1]).all()
