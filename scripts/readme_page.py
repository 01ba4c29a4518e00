"""A hook of MkDocs: README.md is the first page of the site."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

README = Path(__file__).parents[1] / "README.md"


def on_files(files: Files, config: Any) -> Files:
    """Add the page. Its links lead to docs/, where the other pages are."""
    text = re.sub(r"(\]\(|src=\")docs/", r"\1", README.read_text())
    files.append(File.generated(config, "index.md", content=text))
    return files
