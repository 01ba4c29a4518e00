"""Measure the processor time that hostile markup can cost: every element of HTML, unclosed, closed and nested.

    python -m benchmarks.runs.nesting [--kilobytes 200] [--pairs]

Prints the slowest pages and an ordinary page of the same size. With `--pairs`, it also tries every element inside every
other one, which takes an hour.
"""

from __future__ import annotations

import argparse
import resource
from collections.abc import Iterator
from itertools import product
from random import Random
from typing import Final, NamedTuple

from lshdb.readers.base import Unfit
from lshdb.readers.extraction import Extractor, processor_seconds

__all__ = ["SHOWN", "START_SECONDS", "cost", "main", "random_patterns"]

# The elements of the HTML standard, its obsolete ones, and those of SVG and MathML that the parser treats specially.
ELEMENTS: Final = """
a abbr acronym address applet area article aside audio b base basefont bdi bdo bgsound big blink blockquote body br
button canvas caption center cite code col colgroup data datalist dd del details dfn dialog dir div dl dt em embed
fieldset figcaption figure font footer form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html i iframe image
img input ins isindex kbd keygen label legend li link listing main map mark marquee math menu menuitem meta meter
multicol nav nextid nobr noembed noframes noscript object ol optgroup option output p param picture plaintext pre
progress q rb rp rt rtc ruby s samp script search section select slot small source spacer span strike strong style sub
summary sup svg table tbody td template textarea tfoot th thead time title tr track tt u ul var video wbr xmp
annotation-xml desc foreignobject mi mo mtext path unknown
"""
CONTEXTS: Final = ("", "<ruby>", "<select>", "<table>", "<svg>", "<template>", "<p><b>")
ORDINARY: Final = "<p>words of <a href=x>an</a> ordinary <b>page</b></p>"
SHOWN: Final = 12
START_SECONDS: Final = 0.5  # processor time of starting a process, generously
MAX_PARTS: Final = 12  # of a random pattern


class Cost(NamedTuple):
    """The cost of a page: processor seconds, and whether it was rejected."""

    seconds: float
    rejected: bool
    pattern: str


def main() -> None:
    """Measure the pages and print the slowest."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kilobytes", type=int, default=200)
    parser.add_argument("--pairs", action="store_true")
    options = parser.parse_args()
    num_characters = 1_000 * options.kilobytes
    costs = sorted((cost(pattern, num_characters) for pattern in patterns(pairs=options.pairs)), reverse=True)
    print(f"{len(costs)} pages of {options.kilobytes} kB, {sum(each.rejected for each in costs)} rejected")
    print(f"limit {processor_seconds(' ' * num_characters):.2f} s, times include the start of the process")
    for each in [*costs[:SHOWN], cost(("", ORDINARY), num_characters)]:
        print(f"{each.seconds:8.2f} s  {'rejected' if each.rejected else 'read':8}  {each.pattern}")


def patterns(*, pairs: bool) -> Iterator[tuple[str, str]]:
    """Yield (beginning of a page, repeated part)."""
    for context, element in product(CONTEXTS, ELEMENTS.split()):
        yield context, f"<{element}>x"
        yield context, f"<{element}>x</{element}>"
    for outer, inner in product(ELEMENTS.split(), repeat=2) if pairs else ():
        yield "", f"<{outer}><{inner}>x"


def random_patterns(chance: Random) -> Iterator[tuple[str, str]]:
    """Yield random nestings without end: start tags, end tags, attributes, comments and texts in any order."""
    elements = ELEMENTS.split()
    while True:
        parts = [_random_part(chance, chance.choice(elements)) for _ in range(chance.randint(1, MAX_PARTS))]
        yield chance.choice(CONTEXTS), "".join(parts)


def _random_part(chance: Random, element: str) -> str:
    return chance.choice(
        (f"<{element}>", f"<{element}>x", f"<{element} a=1 b='2'>", f"<{element}/>", f"</{element}>", "x", "<!-- -->")
    )


def cost(pattern: tuple[str, str], num_characters: int) -> Cost:
    """Return the cost of a page that repeats a pattern, parsed in a new process."""
    begin, repeated = pattern
    page, before, extractor = begin + repeated * (num_characters // len(repeated)), _seconds(), Extractor()
    try:
        extractor.extract(page, "main")
        rejected = False
    except Unfit:
        rejected = True
    extractor.close()
    return Cost(_seconds() - before, rejected, f"{begin} {repeated}")


def _seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    main()
