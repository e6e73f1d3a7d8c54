"""What Sphinx has resolved, as plain Markdown: for readers of a chapter outside of the book.

Headings and statements have their numbers, citations and references their words, and links lead to
the site if its address is known; if not, they name the page. Jupyter, Colab and editors show all of
it, without knowing MyST. What is not known here ends the build: no markup gets through by accident.
"""

import re
from pathlib import PurePosixPath
from urllib.parse import urljoin

from docutils import nodes
from sphinx import addnodes
from sphinx_proof.nodes import NODE_TYPES, proof_node

STATEMENTS = tuple(NODE_TYPES.values())
INLINE = (nodes.Text, nodes.Inline, nodes.math, nodes.literal, nodes.reference, nodes.strong)
INLINE += (nodes.emphasis, addnodes.download_reference)
SILENT = (nodes.comment, nodes.target, nodes.title, nodes.colspec, addnodes.index)
SILENT += (addnodes.toctree, nodes.substitution_definition, nodes.meta, nodes.raw, nodes.image)
AROUND = {nodes.strong: "**", nodes.emphasis: "*", nodes.title_reference: "*"}
BELOW = {nodes.superscript: "sup", nodes.subscript: "sub"}
LISTS = {"record", "reference"}
"""Pages of many entries. A link to them names its entry; the page's title would add nothing."""
CELL = 10_000
"""MyST-NB counts the lines of a notebook's first cell from here, of its second from twice that."""


def place(node):
    """Return the number of the cell that a node comes from, or None."""
    lines = (getattr(part, "line", None) for part in node.findall())
    line = next(filter(None, lines), None)
    return line // CELL - 1 if line else None


def quoted(text):
    """Return text in a box, as Markdown has it."""
    return re.sub(r"^(.*)$", lambda line: f"> {line[1]}".rstrip(), text, flags=re.M)


def depth(section):
    """Return how many sections a section is in, itself too."""
    return 1 + depth(section.parent) if isinstance(section, nodes.section) else 0


class Writer:
    """Writes the nodes of a page, whose address and numbers it knows, and the titles of all pages.

    Numbers are by kind and then by name; those of sections are of the kind "section".
    """

    def __init__(self, address, numbers, titles):
        self.address = address
        self.numbers = numbers
        self.titles = titles

    def number(self, kind, node):
        """Return the number of a statement or equation."""
        return ".".join(map(str, self.numbers.get(kind, {}).get(next(iter(node["ids"]), ""), ())))

    def link(self, node):
        """Return a link, or its words if nobody knows where it leads."""
        file = isinstance(node, addnodes.download_reference)
        inner = node.astext() if file else self.words(node)
        to = node.get("refuri") or f"#{node.get('refid', '')}"
        if file:
            to = f"../_downloads/{node['filename']}" if "filename" in node else ""
        if to and (self.address or re.match(r"\w+:", to)):
            return f"[{inner}]({urljoin(self.address, to)})"
        page = PurePosixPath(to.partition("#")[0]).stem
        title = self.titles.get(page, "")
        named = not title or title in inner or re.search(r"\d", inner) or page in LISTS
        return inner if named else f"{inner} (see *{title}*)"

    def heading(self, node):
        """Return the title of a section, with its number if it has one."""
        anchor = f"#{node.parent['ids'][0]}" if depth(node.parent) > 1 else ""
        number = ".".join(map(str, self.numbers.get("section", {}).get(anchor, ())))
        return " ".join(filter(None, ["#" * depth(node.parent), number, self.words(node)]))

    def inline(self, node):
        """Return what stands in a line."""
        match node:
            case nodes.Text():
                return re.sub(r"([\\*_$<`])", r"\\\1", node.astext()).replace("\n", " ")
            case nodes.math() | nodes.literal():
                mark = "$" if isinstance(node, nodes.math) else "`"
                return mark + " ".join(node.astext().split()) + mark
            case nodes.reference() | addnodes.download_reference():
                return self.link(node)
            case nodes.raw() | nodes.image():
                return ""
        inner = "".join(map(self.inline, node.children))
        if mark := AROUND.get(type(node)):
            return f"{mark}{inner.strip()}{mark}"
        tag = BELOW.get(type(node))
        return f"<{tag}>{inner}</{tag}>" if tag else inner

    def words(self, node):
        """Return the words of a paragraph or a title."""
        return "".join(map(self.inline, node.children)).strip()

    def all(self, parts):
        """Return blocks, one after the other."""
        return "\n\n".join(filter(None, map(self.block, parts)))

    def formula(self, node):
        """Return a formula of its own; on one line, for it may stand in a box."""
        tex = " ".join(node.astext().split())
        if node.get("nowrap"):
            return tex
        if r"\\" in tex and r"\begin" not in tex:
            tex = rf"\begin{{split}}{tex}\end{{split}}"
        if number := self.number("displaymath", node):
            tex += rf" \tag{{{number}}}"
        return f"$$ {tex} $$"

    def table(self, node):
        """Return a table."""
        rows = [
            [self.all(entry.children).replace("\n\n", "<br>").replace("|", r"\|") for entry in row]
            for row in node.findall(nodes.row)
        ]
        rows.insert(1, ["---"] * len(rows[0]))
        return "\n".join(f"| {' | '.join(row)} |" for row in rows)

    def items(self, node):
        """Return a list, numbered or not."""
        first = node.get("start", 1)
        numbered = isinstance(node, nodes.enumerated_list)
        marks = (f"{first + n}." if numbered else "-" for n in range(len(node)))
        texts = (re.sub(r"\n(?=.)", "\n  ", self.all(item.children)) for item in node)
        return "\n".join(map("{} {}".format, marks, texts))

    def block(self, node):
        """Return a block, and all that it holds; nothing for what is no text."""
        match node:
            case nodes.section() if isinstance(node.parent, STATEMENTS):
                return self.all(node.children)
            case nodes.title() if isinstance(node.parent, nodes.section):
                return self.heading(node)
            case proof_node():
                proof = self.all(node[0].children).rstrip()
                proof = proof.removesuffix("∎").rstrip()  # where the page has a sign of its own
                return proof.replace("Proof.", "*Proof.*", 1) + r" $\square$"
            case _ if isinstance(node, STATEMENTS):
                name = f"{node['realtype'].title()} {self.number(node['countertype'], node)}"
                title = self.words(node[0]).strip("()")
                head = f"**{name.strip()}**" + f" ({title})" * bool(title)
                return quoted(f"{head}\n\n{self.all(node.children[1:])}")
            case nodes.Admonition():
                title = next(iter(node.findall(nodes.title)), None)
                head = f"**{self.words(title)}**\n\n" if title else ""
                return quoted(head + self.all(node.children))
            case nodes.paragraph() | nodes.rubric() | nodes.caption() | nodes.legend():
                return self.words(node)
            case nodes.math_block():
                return self.formula(node)
            case nodes.literal_block() | nodes.doctest_block():
                language = node.get("language", "")
                return f"```{language if language != 'none' else ''}\n{node.astext()}\n```"
            case nodes.bullet_list() | nodes.enumerated_list():
                return self.items(node)
            case nodes.definition_list():
                said = ((self.words(i[0]), quoted(self.all(i.children[1:]))) for i in node)
                return "\n\n".join(f"{term}\n\n{meaning}" for term, meaning in said)
            case nodes.table():
                return self.table(node)
            case nodes.block_quote():
                return quoted(self.all(node.children))
            case nodes.sidebar():  # a note beside the text, whose title is empty
                return quoted(self.all(node.children[1:]))
            case nodes.transition():
                return "---"
            case nodes.container() if node.get("nb_element") == "cell_code":
                return self.all(node.findall(nodes.figure))
            case nodes.figure():
                caption = next(iter(node.findall(nodes.caption)), None)
                name = f"**Fig. {self.number('figure', node)}.** "
                return name + self.words(caption) if caption else ""
            case nodes.section() | nodes.container() | nodes.compound() | nodes.definition():
                return self.all(node.children)
            case _ if isinstance(node, SILENT):
                return ""
            case _ if isinstance(node, INLINE):
                return self.inline(node).strip()
            case _ if isinstance(node, nodes.General) or node.tagname == "PassthroughTextElement":
                return self.all(node.children)
        raise NotImplementedError(f"no Markdown for {node.tagname}: {node.astext()[:60]!r}")

    def cells(self, page):
        """Return the Markdown of each cell that has any, by the number of the cell."""
        found = {}

        def walk(parts):
            for part in parts:
                if isinstance(part, nodes.section):
                    walk(part.children)
                elif text := self.block(part):
                    found.setdefault(place(part), []).append(text)

        walk(page.children)
        return {number: "\n\n".join(texts) for number, texts in found.items()}
