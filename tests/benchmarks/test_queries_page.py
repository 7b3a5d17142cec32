"""The page of queries from results."""

from benchmarks.queries import page
from benchmarks.queries.question import QUERIES


def test_page(tmp_path):
    head = ",".join(["file", "format", "rates", "states", "ignored", "not compared", *QUERIES])
    near, far = (",".join([value] * (len(QUERIES) - 1)) for value in ("2e-14", "2e-9"))
    rows = [
        f"b.xml,MJCF,3,5,contacts,,{near},nan",
        f"a.xml,MJCF,4,5,,,{far},nan",
        f"c.urdf,URDF,0,0,,no | body,{near},nan",
    ]
    (tmp_path / "queries.csv").write_text("\n".join([head, *rows]) + "\n")
    (tmp_path / "judged.csv").write_text("file,query,Talus,owner\na.xml,bias,3e-14,4e-3\n")
    (tmp_path / "versions.csv").write_text("program,version\nmujoco,4.0\nopensim,not installed\n")
    out = tmp_path / "page.md"
    assert page.main([str(out), str(tmp_path)]) == 0 and page.main([]) == 2
    text = out.read_text()
    assert "mujoco 4.0." in text and "3 files: 2 compared, 1 of these within 1e-10" in text
    assert text.index("| a.xml | 4 | **2e-09** |") < text.index("| b.xml | 3 | 2e-14 |") and "no \\| body" in text
    assert "| a.xml | bias | 3e-14 | 4e-03 |" in text
