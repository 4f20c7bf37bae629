"""What axe-core finds in the page that a browser has open."""

from __future__ import annotations

import functools
from zipfile import ZipFile

from sandbox.jars import ensure_sets, jar_set
from tests.browser import Browser

AXE_SET = "axe-core-4.11.1"

_ASK = """
return axe.run({resultTypes: ['violations']}).then((found) => found.violations
  .filter((each) => ['serious', 'critical'].includes(each.impact))
  .flatMap((each) => each.nodes.map((node) => `${each.id}: ${node.html.slice(0, 200)}`)));
"""


def serious_faults(browser: Browser) -> list[str]:
    """Return each place of impact serious or critical as rule and element; raises `JarsError`."""
    browser.run(_script())
    return [str(each) for each in browser.run(_ASK)]


@functools.cache
def _script() -> str:
    ensure_sets([AXE_SET], print)
    (jar,) = jar_set(AXE_SET).libs.glob("*.jar")
    with ZipFile(jar) as archive:
        return archive.read("axe.min.js").decode()
