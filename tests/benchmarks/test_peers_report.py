"""Tables and figures of the comparison, made for all programs without running them."""

from benchmarks.peers import report
from benchmarks.peers.records import FULL, AtError, ChainCost
from benchmarks.peers.search import Search
from tests.support.layouts import faults
from tests.support.legible_tables import assert_legible
from tests.support.peers import all_peers


def test_each_program_has_its_own_style_in_all_figures():
    styles = [report.style(one.name, one.input) for one in all_peers()]
    assert len({(style["color"], style["marker"], style["markerfacecolor"]) for style in styles}) == len(styles)
    assert len({(style["color"], style["marker"]) for style in styles}) == len(report.STYLES)
    rows = [[p.name, p.input, "step", s, 1, k + s, 10.0**-s] for k, p in enumerate(all_peers()) for s in (1, 2)]
    fig = report.work_figure(rows, [AtError(1e-9, 5.0, None, 1, 1, 1, 1, 1)], FULL)
    few = all_peers()[::3]
    chains = {p.label: {n: (ChainCost(1e-6, None, 0.0), 0.0) for n in (1, 10)} for p in few}
    figures = fig, report.chain_figure(chains, all_peers())
    assert not [wrong for figure in figures for wrong in faults(figure)]
    work, chain = (figure.axes[0] for figure in figures)
    drawn = [{line.get_label(): (line.get_color(), line.get_marker()) for line in ax.lines} for ax in (work, chain)]
    assert drawn[1] and drawn[1].items() <= drawn[0].items()
    assert drawn[0]["Talus: bodies and joints"][0] != drawn[0]["the papers' method: bodies and joints"][0]
    assert not work.texts, "the names are in the legend, where they cover no curve"


def test_tables_of_all_programs_are_legible_at_80_columns(printed):
    all_, cases = all_peers(), FULL
    equals = [
        AtError(1.886e-11, 5.0, one, 1.122e-10, 1.726e-11, 123456, 12.3456, 0.0008094) for one in all_
    ] + [AtError(1e-9, 5.0, all_[0], None, 1.2e-8, None, None, None)]  # fmt: skip
    searches = [Search(one, None, known={1e-3: 1.143e-14}) for one in all_]
    rows = [[one.name, one.input, "step [s]", 0.0003125, 22400, 1234.5, 1.2345e-14] for one in all_]
    links = {n: (ChainCost(0.12345e-6 * n, None, 0.0), 2.285e-16) for n in cases.links}
    tables = [
        report.equal_table(equals, cases, 5e-15, "equal error"),
        report.program_table(searches, dict.fromkeys((one.label for one in all_), 0.005299e-6)),
        report.setting_table(rows),
        report.chain_table({one.label: links for one in all_}, {}, all_, cases),
    ]
    for table in tables:
        assert_legible(table, printed(table))
        wide = printed(table, 200)
        assert "too narrow" not in wide and all(word in wide for column in table.columns for word in column.split())
