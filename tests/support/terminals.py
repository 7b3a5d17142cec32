"""What a function prints on a terminal of a given width."""

import io

from runtime.report import terminal


def printed(monkeypatch, width, show, *given, **more):
    stream = io.StringIO()
    with monkeypatch.context() as patch:
        patch.setattr(terminal, "out_console", terminal.plain_console(file=stream, width=width))
        show(*given, **more)
    return stream.getvalue()
