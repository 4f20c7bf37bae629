"""What MkDocs cannot do by itself: pages outside docs/ become part of the site, and links to them keep working."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

# Files next to docs/, and their place on the site.
OUTSIDE = {
    "CHANGELOG.md": "project/changes.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security.md",
}
LINK = re.compile(r"(?<=\]\()(?!https?:|#)([^)#\s]+)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the files outside docs/."""
    root = Path(config.config_file_path).parent
    for name, place in OUTSIDE.items():
        files.append(File.generated(config, place, content=(root / name).read_text()))
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Turn links between files of the repository into links between pages of the site."""
    place = page.file.src_uri
    inside = {site: name for name, site in OUTSIDE.items()}
    file = inside.get(place, f"docs/{place}")

    def on_site(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(file), link[1]))
        target = OUTSIDE.get(target, target.removeprefix("docs/"))
        return posixpath.relpath(target, posixpath.dirname(place) or ".")

    return LINK.sub(on_site, markdown)
