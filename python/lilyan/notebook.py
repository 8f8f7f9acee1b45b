"""What notebooks show, and the lab."""

from __future__ import annotations

import html
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from . import _lilyan
from ._lilyan import InputError

if TYPE_CHECKING:
    from .scene import Scene


class Page:
    """A page of the report's viewer. A notebook shows it; :meth:`save` writes it into a file that needs nothing else.

    >>> Page("<p>hello</p>", 100)
    <lilyan.Page of 12 characters>
    """

    def __init__(self, html: str, height: int):
        #: The page.
        self.html = html
        #: Its height in a notebook, pixels.
        self.height = height

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the page into a file."""
        Path(path).write_text(self.html, encoding="utf-8")

    def _repr_html_(self) -> str:
        # In a frame of its own, the style and the script of the page stay away from those of the notebook.
        return (
            f'<iframe srcdoc="{html.escape(self.html)}" sandbox="allow-scripts" '
            f'style="width: 100%; height: {self.height}px; border: 0" title="lilyan"></iframe>'
        )

    def __repr__(self) -> str:
        return f"<lilyan.Page of {len(self.html)} characters>"


class Lab:
    """The lab, served on this computer until :meth:`stop` or the end of the program."""

    def __init__(self, scene: str, port: int, folder: tempfile.TemporaryDirectory | None):
        self._lab, self._folder = _lilyan.Lab(scene, port), folder

    @property
    def url(self) -> str:
        """The address. Whoever knows it can use the lab."""
        return self._lab.url

    def stop(self) -> None:
        """Ends the server."""
        self._lab.stop()

    def __enter__(self) -> "Lab":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _repr_html_(self) -> str:
        return f'<a href="{html.escape(self.url)}" target="_blank" rel="noopener">Open the lab</a>'

    def __repr__(self) -> str:
        return f"<lilyan.Lab at {self.url}>"


def lab(scene: "Scene | str | os.PathLike[str]" = "wobbling-jelly", *, port: int = 0, open: bool = False) -> Lab:
    """Serves the lab with a scene: pull it with the mouse, change everything while it moves.

    ``scene`` is a :class:`lilyan.Scene`, a file or the name of a built-in scene. Port 0 is any free one. ``open`` opens the page in the
    browser; a notebook shows a link.
    """
    folder = None
    if not isinstance(scene, (str, os.PathLike)):
        folder = tempfile.TemporaryDirectory(prefix="lilyan-lab-")
        scene = scene.save(Path(folder.name) / "scene.toml")
    path = os.fspath(scene)
    if not Path(path).exists() and path not in _lilyan.scenes():
        from .scene import Scene

        Scene.load(path)  # names what is wrong
        raise InputError(f"there is no scene {path!r}")
    served = Lab(path, port, folder)
    if open:
        import webbrowser

        webbrowser.open(served.url)
    return served
