"""XML of strangers: linear time and bounded memory, tags with colons, no document types, encodings."""

import subprocess
import sys
from pathlib import Path

import pytest

from models.files.xml_reading import read_xml
from runtime import ModelError
from runtime.support.xml_reading import DEEPEST, parse_xml
from tests.support.paths import ROOT
from tests.support.processes import environment
from tests.support.refusals import assert_refused

BEGIN, SIZE = "<r>", 3 * 2**20  # [bytes]; minutes for each where time is quadratic, else half a second
LARGE = {
    "lines": ("a\n", "</r>"), "texts and comments": ("a<!-- b -->", "</r>"), "sections": ("<![CDATA[a]]>", "</r>"),
    "references": ("&#65;", "</r>"), "elements": ("<element>some text</element>\n", "</r>"),
    "deep": ("<a>" * 400 + "</a>" * 400, "</r>"), "colons": ('<a::b name="c">1 2 3</a::b>\n', "</r>"),
    "instructions": ("<?a b?>", "</r>"), "no end": ("<!-- a", ""),
}  # fmt: skip
PROGRAM = """
import sys
from pathlib import Path
from models.files.xml_reading import read_xml
from runtime import ModelError
for file in sys.argv[1:]:
    try:
        print(sum(1 for _ in read_xml(Path(file)).within()))
    except ModelError:
        print("refused")
"""


@pytest.mark.slow
def test_large_files_are_read_in_linear_time(tmp_path):
    """One process reads all; it has time for some fifty times as long."""
    files = {name: tmp_path / f"{name}.xml" for name in LARGE}
    for name, file in files.items():
        unit, end = LARGE[name]
        file.write_text(BEGIN + unit * (SIZE // len(unit)) + end)
    attributes = tmp_path / "attributes.xml"
    attributes.write_text("<r " + " ".join(f'xmlns:a{k}="b"' for k in range(SIZE // 40)) + "/>")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *map(str, files.values()), str(attributes)], env=environment(), cwd=ROOT,
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    counts = dict(zip([*files, "attributes"], done.stdout.split(), strict=True))
    assert counts.pop("no end") == "refused", done.stderr
    assert int(counts["elements"]) == 1 + SIZE // len(LARGE["elements"][0]) and int(counts["lines"]) == 1
    assert int(counts["deep"]) == 1 + 400 * (SIZE // len(LARGE["deep"][0])) and int(counts["attributes"]) == 1


def test_the_text_of_an_element_is_whole():
    root = parse_xml(b"<r>a<!-- x -->b<c>d</c>e<![CDATA[f]]>&#65;&lt;</r>", Path("r.xml"))
    assert root.text == "abefA<" and root.children[0].text == "d"
    assert [e.tag for e in root.within()] == ["r", "c"]


def test_tags_may_contain_colons():
    """As those of OpenSim's contacts; no prefix is declared for them."""
    text = b"<a><HuntCrossleyForce::ContactParametersSet name='x'><b/></HuntCrossleyForce::ContactParametersSet></a>"
    (inner,) = parse_xml(text, Path("a.xml")).children
    assert inner.tag == "HuntCrossleyForce::ContactParametersSet" and inner.children[0].tag == "b"


REFUSED = {
    "has a document type": ["utf-8", "utf-16", "latin-1"],
    "no text in the encoding that it states: unknown encoding: nonsense; use UTF-8": ["nonsense"],
    "multi-byte encodings are not supported": ["shift_jis", "big5"],
}


@pytest.mark.parametrize(("sentence", "encoding"), [(text, one) for text, of in REFUSED.items() for one in of])
def test_entities_and_unknown_encodings_are_refused(sentence, encoding, tmp_path):
    text = f'<?xml version="1.0" encoding="{encoding}"?><!DOCTYPE r [<!ENTITY b "c">]><r>&b;</r>'
    (tmp_path / "a.urdf").write_bytes(text.encode("utf-8" if sentence != "has a document type" else encoding))
    with pytest.raises(ModelError, match=f"^a.urdf.*{sentence}"):
        read_xml(tmp_path / "a.urdf")


def test_nesting_has_a_limit():
    for count, refused in ((DEEPEST, False), (DEEPEST + 1, True)):
        text = ("<a>" * count + "</a>" * count).encode()
        if refused:
            assert_refused("deeper than 500; flatten the file", parse_xml, text, Path("a.xml"))
        else:
            assert sum(1 for _ in parse_xml(text, Path("a.xml")).within()) == count
