"""Tables of subjects as spreadsheets write them, and one sentence with the line for each mistake."""

import pytest

from models.walking import read_subject_table
from tests.support.refusals import assert_refused

HEADER = "subject,mass,static,trials,side,group\n"


@pytest.fixture
def folder(tmp_path):
    """A folder with a standing trial and two walks of each of two subjects."""
    for name in ("ann", "bob"):
        (tmp_path / name).mkdir()
        for file in ("static.c3d", "walk1.c3d", "walk2.c3d"):
            (tmp_path / name / file).write_bytes(b"-")
    return tmp_path


def read(folder, text, encoding="utf-8"):
    file = folder / "people.csv"
    file.write_bytes(text if isinstance(text, bytes) else text.encode(encoding))
    return read_subject_table(file)


def test_lists_and_patterns_are_relative_to_the_folder_of_the_table(folder):
    table = read(
        folder,
        HEADER + "ann,61.5,ann/static.c3d,ann/*.c3d,right,a\n# a comment\n\n"
        'bob,,bob\\static.c3d,"bob/walk2.c3d; bob/walk1.c3d",,b\n',
    )
    ann, bob = table.rows
    assert (ann.line, ann.subject, ann.mass, ann.side, ann.group) == (2, "ann", 61.5, "right", "a")
    # The pattern leaves out the static trial; a list keeps its order.
    assert [file.name for file in ann.trials] == ["walk1.c3d", "walk2.c3d"]
    assert (bob.line, bob.mass, bob.side) == (5, None, None) and [file.name for file in bob.trials] == [
        "walk2.c3d",
        "walk1.c3d",
    ]
    assert all(file.is_file() for row in table.rows for file in (row.static, *row.trials)) and table.notes == ()


def test_further_columns_describe_the_subject(folder):
    text = (
        "Subject,static,trials,Height [m],link length (m),subtalar inclination [deg],inertia,sex,toes,condition,age,foot flat,"
        "ankle width [m]\n"
        "ann,ann/static.c3d,ann/walk1.c3d,1.71,0.04,45,winter,F,locked,slow,33,,\n"
        "ann,ann/static.c3d,ann/walk2.c3d,1.71,0.04,45,winter,F,locked,fast,33,no,0.07\n"
    )
    table = read(folder, text)
    row = table.rows[1]
    assert (row.name, row.height, row.sex, row.toes) == ("ann, fast", 1.71, "female", "locked")
    assert (row.anatomy.link_length, row.anatomy.subtalar_inclination_deg, row.anatomy.inertia) == (
        0.04,
        45.0,
        "winter",
    )
    assert (row.foot_flat, row.anatomy.ankle_width) == (False, 0.07)
    assert (table.rows[0].foot_flat, table.rows[0].anatomy.ankle_width) == (True, None)
    assert table.notes == ("people.csv: columns that were not read: age",)


GOOD = "ann,61.5,ann/static.c3d,ann/walk1.c3d,right,gr\u00fcn\n"


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (HEADER + GOOD, "utf-8-sig"),
        (HEADER + GOOD, "utf-16"),
        (HEADER + GOOD, "cp1252"),
        ((HEADER + GOOD).replace("\n", "\r\n"), "utf-8"),
        ((HEADER + GOOD).replace(",", ";").replace("61.5", "61,5"), "utf-8"),
        ("sep=;\n" + (HEADER + GOOD).replace(",", ";").replace("61.5", "61,5"), "utf-8-sig"),
        ((HEADER + GOOD).replace(",", "\t"), "utf-8"),
    ],
)
def test_exports_of_spreadsheets_are_read(folder, text, encoding):
    table = read(folder, text, encoding)
    assert (table.rows[0].mass, table.rows[0].group) == (61.5, "gr\u00fcn")
    assert len(table.notes) == (encoding == "cp1252") and all("line 2 is not UTF-8" in note for note in table.notes)


ROW = "ann,61.5,ann/static.c3d,ann/walk1.c3d,right,a\n"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("subject,mass,trials\nann,60,x\n", "line 1 has no column 'static'; it has 'subject', 'mass', 'trials'"),
        ("subject,static,trials,sid\n", "unknown column 'sid'; did you mean 'side'?"),
        ("subject,static,trials,mass [g]\n", "column 'mass [g]' is in g; give it in kg"),
        ("subject,static,trials,mass,mass\n", "column 'mass' occurs twice"),
        (HEADER + ROW.replace("right", "middle"), "line 2: side 'middle' is unknown; use right, left, auto"),
        (HEADER + ROW + ROW, "line 3: subject 'ann' is in line 2 already"),
        (HEADER + ROW.replace("walk1", "walk3"), "line 2: column 'trials': no file 'ann/walk3.c3d'; did you mean 'walk"),
        (HEADER + ROW.replace("walk1", "run*"), "line 2: column 'trials': no file matches 'ann/run*.c3d'"),
        (HEADER + ROW.replace("static", "walk1"), "line 2: column 'trials' names the static trial only"),
        (HEADER + ROW.replace("ann/static.c3d", ""), "line 2: column 'static' is empty"),
        (HEADER + ROW.replace("61.5", "61500"), "line 2: mass = 61500 kg, limits 10 and 300; is it in grams? give kg"),
        (HEADER + ROW.replace("61.5", "61,5"), "line 2: 7 cells where the header names 6 columns"),
        (HEADER + ROW.replace("61.5", "heavy"), "line 2: mass = 'heavy' is not a number"),
        (HEADER + ROW.replace("61.5", "nan"), "line 2: mass = nan kg"),
        (HEADER + ROW + ROW.replace("ann,", "bob,").replace(",a\n", ",\n"), "line 3: column 'group' is empty"),
        (HEADER, "no subject below the header"),
        ("", "the file is empty"),
        (b"PK\x03\x04", "this is a workbook of a spreadsheet program"),
        (b"subject\0", "not a text file"),
        (b"subject,static,trials\n\x81,a,b\n", "line 2 is neither UTF-8 nor Windows-1252"),
        (
            HEADER + ROW.replace("right", "up") + ROW.replace("ann,", "bob,").replace("61.5", "2"),
            "line 2: side 'up' is unknown; use right, left, auto, or leave the cell empty; line 3: mass = 2 kg",
        ),
    ],
)  # fmt: skip
def test_each_mistake_is_one_sentence_with_its_line(folder, text, sentence):
    assert_refused(f"people.csv: {sentence}", read, folder, text)


def test_conditions_of_a_subject_belong_to_one_group(folder):
    text = "subject,static,trials,group,condition\n" + "".join(
        f"ann,ann/static.c3d,ann/walk1.c3d,{group},{condition}\n" for group, condition in (("a", "slow"), ("b", "fast"))
    )
    assert_refused("line 3: subject 'ann' is in group 'b', and in line 2 in 'a'", read, folder, text)
    assert_refused("cannot read", read_subject_table, folder / "none.csv")
