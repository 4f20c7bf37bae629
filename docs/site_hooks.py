"""What MkDocs cannot do by itself.

Pages outside docs/ become part of the site, and links to them keep working. A picture that also exists in dark
(`NAME-dark.png` beside `NAME.png`) is shown in the site's theme.
"""

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
PICTURE = re.compile(r"!\[([^]]*)\]\(([^)#\s]+)\.png\)")
LINK = re.compile(r"(?<=\]\()(?!https?:|#)([^)#\s]+)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the files outside docs/."""
    root = Path(config.config_file_path).parent
    for name, place in OUTSIDE.items():
        files.append(File.generated(config, place, content=(root / name).read_text()))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, **_: object) -> str:
    """Turn links between files of the repository into links between pages of the site, and pictures into pairs."""
    place = page.file.src_uri
    inside = {site: name for name, site in OUTSIDE.items()}
    file = inside.get(place, f"docs/{place}")

    def on_site(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(file), link[1]))
        target = OUTSIDE.get(target, target.removeprefix("docs/"))
        return posixpath.relpath(target, posixpath.dirname(place) or ".")

    def in_both_themes(picture: re.Match[str]) -> str:
        described, name = picture[1], picture[2]
        if not (Path(config.docs_dir) / posixpath.dirname(place) / f"{name}-dark.png").exists():
            return picture[0]
        return f"![{described}]({name}.png#only-light)![{described}]({name}-dark.png#only-dark)"

    return PICTURE.sub(in_both_themes, LINK.sub(on_site, markdown))
