"""Hostile texts, which a host could take for markup, code or commands."""

import numpy as np

from attnwidget.record import AttentionRecord, Fidelity, Layer, ScoreProgram, Stack, Tokens

# Hostile code calls this function; hostile links load from a host that does not exist.
CALL = "window.hostile(1)"
URL = "https://hostile.example"

# In a page that shows them, a call is an error in the console.
TELL = "window.hostile = () => console.error('hostile code ran')"

_HANDLERS = [
    *("onload", "onerror", "onclick", "onmouseover", "onfocus", "ontoggle", "onbegin"),
    *("onpointerenter", "onanimationstart", "onhashchange", "onbeforeprint", "onscroll"),
]

_ELEMENTS = [
    f"<script>{CALL}</script>",
    f"<SCRIPT SRC={URL}/a.js></SCRIPT>",
    f"</script><script>{CALL}</script>",
    f"</ScRiPt ><sCrIpT>{CALL}</sCrIpT>",
    f"</script\n><script\n>{CALL}</script>",
    f"<script\x00>{CALL}</script>",
    f"<script type=module>{CALL}</script>",
    f"<scr<script>ipt>{CALL}</scr</script>ipt>",
    "<!--",
    "<!--<script>",
    "-->",
    "--!>",
    f"--><script>{CALL}</script>",
    "<![CDATA[",
    "]]>",
    f"]]><script>{CALL}</script>",
    f"<img src=x onerror={CALL}>",
    f'<img src="{URL}/a.png">',
    f"<img src=x:x onerror={CALL}//",
    f"<image src=x onerror={CALL}>",
    f"<iframe src=javascript:{CALL}></iframe>",
    f'<iframe srcdoc="<script>parent.{CALL}</script>">',
    f"<object data=javascript:{CALL}>",
    f"<embed src=javascript:{CALL}>",
    f"<base href={URL}/>",
    f"<link rel=stylesheet href={URL}/a.css>",
    f"<link rel=prefetch href={URL}/a>",
    f'<meta http-equiv=refresh content="0;url={URL}">',
    "<meta http-equiv=Content-Security-Policy content=\"default-src *\">",
    f"<form action=javascript:{CALL}><button>go</button></form>",
    f"<isindex action=javascript:{CALL} type=image>",
    f"<a href=javascript:{CALL}>go</a>",
    f'<a href="java\tscript:{CALL}">go</a>',
    f"<details open ontoggle={CALL}>",
    f"<video><source onerror={CALL}></video>",
    f"<audio src=x onerror={CALL}>",
    f"<marquee onstart={CALL}>",
    f"<body onload={CALL}>",
    f"<input autofocus onfocus={CALL}>",
    f"<select autofocus onfocus={CALL}>",
    f"<textarea autofocus onfocus={CALL}>",
    f"<dialog open onclose={CALL}>",
    f"<template><script>{CALL}</script></template>",
    f"<noscript><p title=\"</noscript><img src=x onerror={CALL}>\">",
    "<plaintext>",
    "<xmp>",
    "<title>",
    "</title><style>*{display:none}</style>",
    "</textarea></select></button></div></main></body></html>",
    "<p", "<", ">", "</", "<>", "</>", "<!", "<?", "<%",
]  # fmt: skip

_ATTRIBUTES = [
    f"\"><script>{CALL}</script>",
    f"'><script>{CALL}</script>",
    *(f'" {name}="{CALL}" x="' for name in _HANDLERS),
    *(f"' {name}='{CALL}' x='" for name in _HANDLERS[:4]),
    f'" autofocus onfocus={CALL} x="',
    f"` onmouseover={CALL} x=`",
    '" style="display:none',
    '" hidden aria-hidden="true',
    '"', "'", "`", '""', "\"'`", '"]', '\\"]', '"], *, [x="', "]", "\\",
]  # fmt: skip

_FOREIGN = [
    f"<svg onload={CALL}>",
    f"<svg><script>{CALL}</script></svg>",
    f"<svg><script href=data:,{CALL} />",
    f"<svg><a xlink:href=javascript:{CALL}><text y=9>go</text></a></svg>",
    f"<svg><animate onbegin={CALL} attributeName=x dur=1s>",
    f"<svg><set attributeName=onmouseover to={CALL}>",
    f"<svg><use href=\"data:image/svg+xml,<svg id='x' onload='{CALL}'/>#x\"/></svg>",
    f"<svg><foreignObject><img src=x onerror={CALL}></foreignObject></svg>",
    f"<svg><style><img src=x onerror={CALL}></style></svg>",
    f"<math><mi xlink:href=javascript:{CALL}>go</mi></math>",
    f"<math><mtext><table><mglyph><style><img src=x onerror={CALL}>",
    f"<form><math><mtext></form><form><mglyph><style></math><img src onerror={CALL}>",
    f"<svg></p><style><a id=\"</style><img src=1 onerror={CALL}>\">",
    f"<math><annotation-xml encoding=text/html><img src=x onerror={CALL}>",
    "<!ENTITY x SYSTEM 'file:///etc/passwd'>",
    "<?xml version='1.0'?><!DOCTYPE x>",
]  # fmt: skip

_URLS = [
    f"javascript:{CALL}",
    f"JaVaScRiPt:{CALL}",
    f"java\nscript:{CALL}",
    f"\x01javascript:{CALL}",
    f"vbscript:{CALL}",
    f"data:text/html,<script>{CALL}</script>",
    "data:text/html;base64,PHNjcmlwdD5ob3N0aWxlKCk8L3NjcmlwdD4=",
    f"data:application/javascript,{CALL}",
    "blob:null/00000000-0000-0000-0000-000000000000",
    f"{URL}/collect?a=1",
    "//hostile.example/a.js",
    "\\\\hostile.example\\share",
    "file:///etc/passwd",
    "../../../../etc/passwd",
    "..\\..\\windows\\win.ini",
    "#:~:text=x",
]

_STYLES = [
    f"</style><script>{CALL}</script>",
    "}*{display:none!important}",
    "*{display:none}",
    f"@import url({URL}/a.css);",
    f"background:url({URL}/a.png)",
    f"url(javascript:{CALL})",
    "expression(alert(1))",
    "red;position:fixed;inset:0;z-index:9999",
    f"/*</style>*/<img src=x onerror={CALL}>",
    "var(--ink)",
    "\\3c script\\3e",
    "head.focused, *",
]

_DATA = [
    '","labels":["x"],"y":"',
    '"}]}',
    '\\"}]}',
    '{"__proto__":{"polluted":1}}',
    "\\u003cscript\\u003e",
    "\\u0022",
    "\\x3cscript\\x3e",
    "\u2028\u2029",
    "\\",
    "\\\\",
    "\\n",
    "NaN",
    "Infinity",
    "null",
    "undefined",
    "true",
    "[object Object]",
    "1e999",
    "0x10",
    "-0",
    "__proto__",
    "constructor",
    "prototype",
    "hasOwnProperty",
    "toString",
    "__class__",
    "self.0",
    "self.combined",
]

_TEMPLATES = [
    "{{}}",
    "{content}",
    "{0}",
    "{title!r}",
    "{__class__.__mro__}",
    "{{constructor.constructor('window.hostile(1)')()}}",
    "{{7*7}}",
    "{%raw%}",
    "{% include '/etc/passwd' %}",
    "${window.hostile(1)}",
    "#{7*7}",
    "<%= 7*7 %>",
    "%s%s%s%n",
    "%(x)s",
    "%d",
    "%1$*2$d",
    "$&$1$`$'",
    "$(touch hostile)",
    "`touch hostile`",
    "; rm -rf hostile",
    "' OR 1=1 --",
    "\\input{hostile}",
    "$$\\href{javascript:window.hostile(1)}{x}$$",
    "[x](javascript:window.hostile(1))",
    f"![x]({URL}/a.png)",
    "~~~",
    "```",
]

_FORMULAS = [
    "=1+1",
    "+1+1",
    "-1+1",
    "@SUM(1,1)",
    "=cmd|' /C calc'!A0",
    f'=HYPERLINK("{URL}","x")',
    f'=IMPORTXML("{URL}","//a")',
    "\t=1+1",
    "\r=1+1",
    " =1+1",
    "＝1+1",
    '"=1+1"',
]

_SIGNS = [
    "\x00",
    "a\x00b",
    "\x01\x02\x7f\x80\x9f",
    "\ufeff",
    "\ufffe\uffff",
    "\ud800",
    "\udc00",
    "\udc80",
    "a\ud83d",
    "\ude00b",
    "\U0010ffff",
    "\x1b[31mred",
    "\x1b]0;title\x07",
    "\x1b[2J\x1b[H",
    "\x9b31m",
    "\b\b\b",
    "\r",
    "\n",
    "\r\n\r\n",
    "\t",
    "\v\f",
    "\x85",
    "\u202eevil\u202c",
    "\u2066x\u2069",
    "\u2067\u2067\u2067",
    "\u200f",
    "\u061c",
    "\u200b",
    "\u200d",
    "\u00ad",
    "\u2060",
    "\u3164",
    "שלום",
    "مرحبا",
    "👩‍👩‍👧‍👦",
    "🏳️‍🌈",
    "a" + "\u0300" * 200,
    "Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢",
    "ﷺ",
    "İıſK",
    "\U000e0041\U000e0042",
    "",
    " ",
    "   ",
    "\u00a0",
    "##",
    "##<script>",
    "▁</script>",
    "Ġ<img>",
    "a 1/2 + b 2/2",
    " 1/" + "1" * 400,
    "x" * 300,
    "x" * 20_000,
    "<" * 5000,
    " + " * 2000,
    "👩‍👩‍👧‍👦" * 200,
]

TEXTS: list[str] = list(
    dict.fromkeys(
        [
            *_ELEMENTS,
            *_ATTRIBUTES,
            *_FOREIGN,
            *_URLS,
            *_STYLES,
            *_DATA,
            *_TEMPLATES,
            *_FORMULAS,
            *_SIGNS,
        ]
    )
)
assert len(TEXTS) >= 150

# Names that a stack may have, and names that a file may have.
NAMES = [text for text in TEXTS if text.isprintable() and 1 <= len(text) <= 200]
FILES = [
    text
    for text in TEXTS
    if text not in ("", ".", "..") and "/" not in text and "\x00" not in text
    if not any("\ud800" <= sign <= "\udfff" for sign in text) and len(text.encode()) < 200
]


def shown(text: str) -> str:
    """The text as a browser has it: half of a character is none."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def record() -> AttentionRecord:
    """A record with every text as a token, a word, missing attention and a module's name."""
    count = len(TEXTS)
    words = tuple(position // 2 for position in range(count))
    tokens = Tokens(tuple(TEXTS), special=(0,), words=words)
    # Modules are named where a layer could not be confirmed.
    unsure = Fidelity("given", " ".join(TEXTS), "queries and keys", 1.0, None, 1e-5, 1)
    layers = tuple(_layer(count, unsure, number) for number in range(2))
    return AttentionRecord({"self": Stack(tokens, tokens, layers)}, model=TEXTS[0], missing=TEXTS)


def stacks() -> AttentionRecord:
    """A record with stacks named by all texts that can be names."""
    tokens = Tokens(("one", "two"))
    sure = Fidelity("given", "", "queries and keys", 0.0, None, 1e-5, 1)
    stack = Stack(tokens, tokens, (_layer(2, sure, 0),))
    return AttentionRecord(dict.fromkeys(NAMES, stack), model="many stacks")


def named(model: str) -> AttentionRecord:
    """A model of this name."""
    return AttentionRecord.from_arrays(np.full((1, 1, 2, 2), 0.5), ["one", "two"], model=model)


def _layer(count: int, fidelity: Fidelity, number: int) -> Layer:
    queries, keys = np.random.default_rng(number).normal(size=(2, 2, count, 4)).astype(np.float32)
    return Layer(queries, keys, ScoreProgram(1.0), None, fidelity, number)
