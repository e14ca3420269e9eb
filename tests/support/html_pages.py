"""Parsed HTML pages for tests: elements with attributes and text, in order."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = frozenset("area base br col embed hr img input link meta source track wbr".split())
# These elements have no end tag.


@dataclass
class Element:
    tag: str
    attributes: dict[str, str | None]
    parents: tuple[str, ...]
    text: str = ""


@dataclass
class Page(HTMLParser):
    """Elements in order; ``faults`` lists elements that are closed without being open, or never closed."""

    html: str
    elements: list[Element] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._open: list[Element] = []
        self.feed(self.html)
        self.close()
        self.faults += [f"{element.tag} is not closed" for element in self._open]

    def handle_starttag(self, tag, attrs):
        element = Element(tag, dict(attrs), tuple(each.tag for each in self._open))
        self.elements.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_startendtag(self, tag, attrs):
        self.elements.append(Element(tag, dict(attrs), tuple(each.tag for each in self._open)))

    def handle_endtag(self, tag):
        if self._open and self._open[-1].tag == tag:
            self._open.pop()
        else:
            self.faults.append(f"</{tag}> closes {self._open[-1].tag if self._open else 'nothing'}")

    def handle_data(self, data):
        for element in self._open:
            element.text += data

    def find_all(self, tag: str) -> list[Element]:
        return [element for element in self.elements if element.tag == tag]

    @property
    def ids(self) -> list[str]:
        return [element.attributes["id"] for element in self.elements if "id" in element.attributes]

    @property
    def headings(self) -> list[tuple[int, str]]:
        return [
            (int(e.tag[1]), e.text) for e in self.elements if len(e.tag) == 2 and e.tag[0] == "h" and e.tag[1].isdigit()
        ]
