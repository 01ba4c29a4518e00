"""A hook of MkDocs: README.md is the first page of the site, and SECURITY.md is another one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
PAGES = {"README.md": "index.md", "SECURITY.md": "SECURITY.md"}


def on_files(files: Files, config: Any) -> Files:
    """Add the pages. Their links lead to docs/, where the other pages are."""
    for name, page in PAGES.items():
        text = re.sub(r"(\]\(|src=\")docs/", r"\1", (ROOT / name).read_text())
        files.append(File.generated(config, page, content=text))
    return files
