"""Mentions of GUM's releases, and of the CorefUD scorer's files, are those that udapi reads.

The files are not kept here: `UD_English-GUM` and `corefud-scorer` are clones beside the models.
"""

import logging
import re
import subprocess
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from udapi.core import coref
from udapi.core.document import Document

from attnwidget.probe import read_conllu
from tests.models.conftest import FOLDER

GUM = Path(FOLDER or "") / "UD_English-GUM"
SCORER = Path(FOLDER or "") / "corefud-scorer"

# For each entity, the places of its mentions: the sentence, and the words.
Clusters = list[list[tuple[int, tuple[int, ...]]]]


def show(repository: Path, *arguments: str) -> bytes:
    if not repository.exists():
        pytest.skip(f"{repository.name} is no clone beside the models")
    return subprocess.run(
        ["git", "-C", str(repository), *arguments], check=True, capture_output=True
    ).stdout


def without_bridges(content: bytes) -> bytes:
    """The file without links of other kinds, of which udapi takes no GUM numbers."""
    content = re.sub(rb"(?<=[\t|])(?:Bridge|Split|SplitAnte)=[^|\n]*(?:\||(?=\n))", b"", content)
    return re.sub(rb"\|(?=\n)", b"", re.sub(rb"\t(?=\n)", b"\t_", content))


def ours(path: Path) -> Clusters:
    document, documents = 0, []
    for block in path.read_text(encoding="utf-8").strip().split("\n\n"):
        document += block.startswith("# newdoc") or "\n# newdoc" in block
        documents.append(document)
    of_document = "GRP" in path.read_text(encoding="utf-8")[:2000]
    clusters = defaultdict(list)
    for number, text in enumerate(read_conllu(path)):
        for mention in text.mentions:
            entity = (documents[number] if of_document else 0, mention.entity)
            clusters[entity].append((number, tuple(mention.words)))
    return sorted(map(sorted, clusters.values()))


def udapis(path: Path, *, strict: bool) -> Clusters:
    logging.disable()
    document = Document(str(path))
    # Else its own reading, which is strict, has refused already.
    coref.load_coref_from_misc(document, strict=strict)
    number = {id(tree): place for place, tree in enumerate(document.trees)}

    def place(mention: Any) -> tuple[int, tuple[int, ...]]:
        words = tuple(int(word.ord) - 1 for word in mention.words if not word.is_empty())
        return number[id(mention.words[0].root)], words

    entities = document._eid_to_entity.values()
    return sorted(
        known
        for entity in entities
        if (known := sorted(found for found in map(place, entity.mentions) if found[1]))
    )


def refused(read: Any) -> bool:
    try:
        read()
    except ValueError:
        return True
    return False


@pytest.mark.parametrize("part", ["dev", "test"])
@pytest.mark.parametrize("release", [f"r2.{number}" for number in range(6, 17)])
def test_gum(release: str, part: str, tmp_path: Path) -> None:
    path = tmp_path / "gum.conllu"
    path.write_bytes(without_bridges(show(GUM, "show", f"{release}:en_gum-ud-{part}.conllu")))
    # The brackets of 2.8 close with all fields, which udapi takes as an error if it is strict.
    strict = release != "r2.8"
    if release in ("r2.6", "r2.7"):
        assert refused(lambda: udapis(path, strict=strict))
        assert refused(lambda: ours(path))
        return
    clusters = ours(path)
    assert sum(map(len, clusters)) > 4000
    assert clusters == udapis(path, strict=strict)


@pytest.mark.filterwarnings("ignore:mentions of .* are left out")
def test_files_of_the_corefud_scorer(tmp_path: Path) -> None:
    names = show(SCORER, "ls-tree", "-r", "--name-only", "HEAD", "tests/tests-corefud").decode()
    files = [name for name in names.split() if name.endswith((".key", ".response"))]
    read = 0
    for name in files:
        path = tmp_path / "file.conllu"
        path.write_bytes(without_bridges(show(SCORER, "show", f"HEAD:{name}")))
        if refused(lambda path=path: udapis(path, strict=True)):
            assert refused(lambda path=path: ours(path)), name
        else:
            read += 1
            assert ours(path) == udapis(path, strict=True), name
    assert read > 50
