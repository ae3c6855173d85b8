"""Chats: which text is whose, in templates of the forms that models have."""

from itertools import pairwise
from typing import Any

import pytest

import attnwidget as aw
from attnwidget.running.batches import text_batches
from attnwidget.running.chat import render
from tests.unit.tiny import Loaded

_CHATML = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
# Written for these tests, each with what its family does that misleads.
_TEMPLATES = {
    "ChatML": _CHATML,
    "own system (Qwen)": (
        "{% if messages[0]['role'] != 'system' %}<|im_start|>system\nHelp.<|im_end|>\n{% endif %}"
        + _CHATML
    ),
    "trimmed, with headers (Llama 3)": (
        "<|begin|>{% for m in messages %}<|start|>{{ m['role'] }}<|end|>\n\n"
        "{{ m['content'] | trim }}<|eot|>{% endfor %}"
        "{% if add_generation_prompt %}<|start|>assistant<|end|>\n\n{% endif %}"
    ),
    "system in the last question (Mistral)": (
        "{% set s = messages[0]['content'] if messages[0]['role'] == 'system' else '' %}<s>"
        "{% for m in messages %}{% if m['role'] == 'user' %}[INST] "
        "{% if loop.last and s %}{{ s }}\n\n{% endif %}{{ m['content'] }} [/INST]"
        "{% elif m['role'] == 'assistant' %}{{ m['content'] }}</s>{% endif %}{% endfor %}"
    ),
    "system before the first question (Gemma 3)": (
        "{% set s = messages[0]['content'] + '\n\n' if messages[0]['role'] == 'system' else '' %}"
        "<bos>{% for m in messages %}{% if m['role'] != 'system' %}<turn>"
        "{{ 'model' if m['role'] == 'assistant' else m['role'] }}\n"
        "{% if loop.index0 == 1 %}{{ s }}{% endif %}{{ m['content'] | trim }}</turn>\n"
        "{% endif %}{% endfor %}{% if add_generation_prompt %}<turn>model\n{% endif %}"
    ),
    "one tag for each role (Phi)": (
        "{% for m in messages %}<|{{ m['role'] }}|>\n{{ m['content'] }}<|end|>\n{% endfor %}"
        "{% if add_generation_prompt %}<|assistant|>\n{% else %}<|endoftext|>{% endif %}"
    ),
    "no line breaks (DeepSeek)": (
        "<｜begin｜>{% for m in messages %}{% if m['role'] == 'user' %}<｜User｜>{{ m['content'] }}"
        "{% elif m['role'] == 'assistant' %}<｜Assistant｜>{{ m['content'] }}<｜end｜>"
        "{% else %}{{ m['content'] }}{% endif %}{% endfor %}"
        "{% if add_generation_prompt %}<｜Assistant｜>{% endif %}"
    ),
    "thoughts cut out (Qwen3)": (
        "{% for m in messages %}<|im_start|>{{ m['role'] }}\n"
        "{% if m['role'] == 'assistant' %}{{ m['content'].split('</think>')[-1].lstrip('\n') }}"
        "{% else %}{{ m['content'] }}{% endif %}<|im_end|>\n{% endfor %}"
        "{% if add_generation_prompt %}<|im_start|>assistant\n<think>\n\n</think>\n\n{% endif %}"
    ),
    "roles between tags (Granite)": (
        "{% for m in messages %}<|role|>{{ m['role'] }}<|/role|>{{ m['content'] }}<|text_end|>\n"
        "{% endfor %}{% if add_generation_prompt %}<|role|>assistant<|/role|>{% endif %}"
    ),
    "parts alone (Idefics)": (
        "{% for m in messages %}{{ m['role'] | capitalize }}:"
        "{% for part in m['content'] %}{% if part['type'] == 'text' %} {{ part['text'] }}"
        "{% endif %}{% endfor %}<end>\n{% endfor %}"
        "{% if add_generation_prompt %}Assistant:{% endif %}"
    ),
}
_CHAT = [
    {"role": "system", "content": "Answer in one word."},
    {"role": "user", "content": "Is it user-made? Häuser: 2 × 3 😀"},
    {"role": "assistant", "content": "Yes, it is user-made."},
    {"role": "user", "content": "Is it user-made? Say assistant."},
]


class _Templated:
    """What `render` needs of a tokenizer: its template."""

    def __init__(self, tokenizer: Any, template: str) -> None:
        self.chat_template = template
        self._tokenizer = tokenizer

    def apply_chat_template(self, messages: Any, **options: Any) -> Any:
        return self._tokenizer.apply_chat_template(
            messages, chat_template=self.chat_template, **options
        )


@pytest.mark.filterwarnings("ignore:the chat template writes no content in this form")
@pytest.mark.parametrize("name", _TEMPLATES)
def test_roles_and_contents_are_found(name: str, minilm: Loaded) -> None:
    tokenizer = _Templated(minilm[1], _TEMPLATES[name])
    chat = render(tokenizer, _CHAT, generation_prompt=True)
    contents = [
        (piece.role, chat.text[piece.start : piece.end])
        for piece in sorted(chat.pieces, key=lambda piece: piece.message or 0)
        if not piece.template
    ]
    assert contents == [(each["role"], each["content"]) for each in _CHAT]
    assert all(a.end == b.start for a, b in pairwise(chat.pieces))
    assert (chat.pieces[0].start, chat.pieces[-1].end) == (0, len(chat.text))
    for piece in chat.pieces:
        if piece.template:
            assert "user-made" not in chat.text[piece.start : piece.end]


def test_a_refused_role_says_what_to_do(minilm: Loaded) -> None:
    refusing = "{{ raise_exception('System role not supported') }}"
    with pytest.raises(ValueError, match="put the system message's text into the first user"):
        render(_Templated(minilm[1], refusing), _CHAT, generation_prompt=True)


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([], "the chat is empty"),
        ([{"content": "Why?"}], "without a role"),
        ([{"role": "user", "content": 3}], "the content of message 0"),
        ([{"role": "user", "content": [{"type": "audio"}]}], "message 0 has a part 'audio'"),
    ],
)
def test_what_is_no_chat_is_refused(messages: Any, expected: str, minilm: Loaded) -> None:
    with pytest.raises((TypeError, ValueError), match=expected):
        render(_Templated(minilm[1], _CHATML), messages, generation_prompt=True)


def test_a_record_of_a_chat_knows_whose_tokens_are_whose(
    minilm: Loaded, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, tokenizer = minilm
    monkeypatch.setattr(tokenizer, "chat_template", _TEMPLATES["one tag for each role (Phi)"])
    tokens = aw.capture(model, tokenizer, _CHAT[:2]).stack().keys
    assert tokens.text is not None
    assert tokens.offsets is not None
    assert tokens.pieces is not None
    by_role: dict[str, str] = {}
    for piece in tokens.pieces:
        if not piece.template:
            spans = [span for span in tokens.offsets[piece.start : piece.end] if span]
            by_role[piece.role] = tokens.text[spans[0][0] : spans[-1][1]]
    assert by_role == {each["role"]: each["content"] for each in _CHAT[:2]}
    assert [role for _, _, role in tokens.turns] == ["system", "user", "assistant"]


def test_a_profile_reads_chats_with_what_their_template_writes_alone(
    minilm: Loaded, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, tokenizer = minilm
    monkeypatch.setattr(tokenizer, "chat_template", _TEMPLATES["one tag for each role (Phi)"])
    batches = list(text_batches(model, tokenizer, [_CHAT[:2], "A cat."], 8, None))
    (batch,) = batches
    chat, text = sorted(batch.texts, key=lambda each: each.index)
    written = render(tokenizer, _CHAT[:2], generation_prompt=False).text
    assert chat.fields["input_ids"] == tokenizer(written, add_special_tokens=False)["input_ids"]
    assert chat.source is None
    assert text.source == "A cat."
    assert aw.profile(model, tokenizer, [_CHAT[:2]], null=None).num_texts == 1
    with pytest.raises(TypeError, match="texts is one chat"):
        aw.profile(model, tokenizer, _CHAT[:2], null=None)
