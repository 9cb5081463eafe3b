"""One HTML page that needs nothing else: text, tables, figures, for screen and paper.

No script and no address outside the file; figures are SVG in the page.
"""

import html
from collections.abc import Iterable, Sequence

__all__ = ["Page"]

_STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif; color: #2b3238;
  background: #fff; max-width: 66rem; margin: 2rem auto 4rem; padding: 0 1.2rem; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .3rem; }
h2 { font-size: 1.2rem; margin: 2.4rem 0 .6rem; padding-top: .6rem;
  border-top: 1px solid #d5dadd; }
p { max-width: 46rem; }
.question { font-size: 1.05rem; color: #4a545b; }
.verdict { background: #f3f5f6; padding: .7rem 1rem; border-left: 4px solid #0072b2; }
.warn { background: #fdf3e3; padding: .7rem 1rem; border-left: 4px solid #e69f00; }
figure { margin: 1.4rem 0; break-inside: avoid; }
figure svg { max-width: 100%; height: auto; }
figcaption { font-size: .9rem; color: #4a545b; max-width: 46rem; margin-top: .3rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .86rem; margin: .6rem 0; }
th, td { padding: .25rem .7rem .25rem 0; text-align: left; vertical-align: top; }
th { border-bottom: 1px solid #8a949b; font-weight: 600; }
td { border-bottom: 1px solid #e6eaec; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
.bad { color: #a63d00; } .good { color: #00694c; }
code, pre { font: .82rem/1.45 ui-monospace, 'DejaVu Sans Mono', monospace; }
pre { background: #f3f5f6; padding: .6rem .8rem; overflow-x: auto; }
details > summary { cursor: pointer; color: #0072b2; }
@media print { body { margin: 0; max-width: none; } details { display: none; } }
"""


class Page:
    """Collects the parts of a page in their order. All text given is escaped."""

    def __init__(self, title: str) -> None:
        """Begin."""
        self._title = title
        self._parts: list[str] = []
        self._figures = self._tables = 0

    def heading(self, text: str) -> None:
        """Begin a section."""
        self._parts.append(f"<h2>{_safe(text)}</h2>")

    def text(self, words: str, kind: str = "") -> None:
        """Add a paragraph; `kind` is a class of the style sheet."""
        mark = f' class="{kind}"' if kind else ""
        self._parts.append(f"<p{mark}>{_safe(words)}</p>")

    def items(self, lines: Iterable[str]) -> None:
        """Add a list."""
        listed = "".join(f"<li>{_safe(line)}</li>" for line in lines)
        self._parts.append(f"<ul>{listed}</ul>")

    def figure(self, svg: str, caption: str) -> None:
        """Add a figure; its SVG is taken as it is."""
        self._figures += 1
        # ids of one figure must not be those of another
        own = svg.replace('id="', f'id="f{self._figures}-')
        own = own.replace('href="#', f'href="#f{self._figures}-')
        own = own.replace("url(#", f"url(#f{self._figures}-")
        self._parts.append(
            f'<figure role="img" aria-label="{_safe(caption)}">{own}'
            f"<figcaption><b>Figure {self._figures}.</b> {_safe(caption)}</figcaption>"
            "</figure>"
        )

    def table(
        self,
        heads: Sequence[str],
        rows: Iterable[Sequence[str]],
        caption: str = "",
        *,
        folded: str = "",
    ) -> None:
        """Add a table; a head that begins with "#" is a column of numbers.

        Args:
            heads: of the columns.
            rows: of cells; one that begins with "!" is bad news, with "+" good.
            caption: below it.
            folded: where given, the table is folded away under these words.
        """
        numbers = [head.startswith("#") for head in heads]
        head = "".join(
            f'<th class="n">{_safe(item[1:])}</th>' if n else f"<th>{_safe(item)}</th>"
            for item, n in zip(heads, numbers, strict=True)
        )
        body = "".join(
            "<tr>"
            + "".join(
                _cell(item, number=n) for item, n in zip(row, numbers, strict=True)
            )
            + "</tr>"
            for row in rows
        )
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        table = f'<div class="scroll">{table}</div>'
        if caption:
            self._tables += 1
            table += (
                f"<p><b>Table {self._tables}.</b> <small>{_safe(caption)}</small></p>"
            )
        if folded:
            table = f"<details><summary>{_safe(folded)}</summary>{table}</details>"
        self._parts.append(table)

    def code(self, text: str, folded: str = "") -> None:
        """Add text as it is, folded away where `folded` is given."""
        block = f"<pre>{_safe(text)}</pre>"
        if folded:
            block = f"<details><summary>{_safe(folded)}</summary>{block}</details>"
        self._parts.append(block)

    def html(self) -> str:
        """Return the whole page."""
        return (
            '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{_safe(self._title)}</title><style>{_STYLE}</style></head><body>"
            f"<h1>{_safe(self._title)}</h1>{''.join(self._parts)}</body></html>\n"
        )


def _safe(text: str) -> str:
    return html.escape(text, quote=True)


def _cell(text: str, *, number: bool) -> str:
    marks = ["n"] if number else []
    if text[:1] in {"!", "+"} and len(text) > 1 and not text[1].isdigit():
        marks.append("bad" if text[0] == "!" else "good")
        text = text[1:]
    kind = f' class="{" ".join(marks)}"' if marks else ""
    return f"<td{kind}>{_safe(text)}</td>"
