"""`torseur studio`: a local page on which a mechanism is written, seen, moved and examined."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated

import typer

FileArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="[FILE]", help="An existing or new .lsd file, a robot file, or library:NAME.", show_default=False
    ),
]
HostOption = Annotated[
    str, typer.Option("--host", metavar="ADDRESS", help="Address to listen on; other machines can then reach the page.")
]
PortOption = Annotated[
    int, typer.Option("--port", min=0, max=65535, help="Port to listen on; 0 takes the first free one.")
]
NameOption = Annotated[
    list[str] | None,
    typer.Option("--name", metavar="HOST", help="Host name under which browsers may reach this machine. Repeatable."),
]
QuietOption = Annotated[bool, typer.Option("--no-browser", help="Print the address without opening a browser.")]


def studio(
    file: FileArgument = None,
    host: HostOption = "127.0.0.1",
    port: PortOption = 0,
    name: NameOption = None,
    no_browser: QuietOption = False,
) -> None:
    """Open the studio: the description beside the mechanism, its equations, sliders and plots. Ctrl-C ends it.

    Example: torseur studio arm.lsd
    """
    from torseur.cli.shared.console import say
    from torseur.presentation.studio.serving import Place, begin, serve

    def ready(address: str) -> None:
        say(f"studio: {address}")
        if host not in ("127.0.0.1", "::1", "localhost"):
            say("warning: whoever can reach this machine and knows the address can use the studio.")
        if not no_browser:
            import webbrowser

            webbrowser.open(address)

    with suppress(KeyboardInterrupt):  # the usual way to end it
        serve(begin(file), Place(host, port, tuple(name or ())), ready)
