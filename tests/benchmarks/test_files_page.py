"""The page of files from results."""

from benchmarks.files import page


def test_page(tmp_path):
    (tmp_path / "files.csv").write_text(
        "file,bodies,degrees of freedom,read,refused without ignore,listed,largest error,evaluation [us],owner [us]\n"
        "b.xml,3,4,yes,contacts,cameras,2.5e-10,1.25,3.5\na.urdf,0,0,no,line 6: <robot> has no link,,nan,nan,nan\n"
        "c.xml,3,4,yes,,,2.5e-5,1.25,3.5\n"
    )
    (tmp_path / "versions.csv").write_text("program,version\nmujoco,4.0\n")
    out = tmp_path / "page.md"
    assert page.main([str(out), str(tmp_path)]) == 0 and page.main([]) == 2
    text = out.read_text()
    assert "mujoco 4.0" in text and "3 files: 2 read, 1 of these within 1e-09" in text
    refused = text.index("| a.urdf |  |  | not read: line 6: &lt;robot> has no link |")
    assert refused < text.index("| b.xml | 3 | 4 | contacts | cameras | 2.5e-10 | 1.25 | 3.5 |")
