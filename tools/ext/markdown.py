"""Convert a resolved Sphinx page to plain Markdown, for chapters read outside the book.

Headings and statements have their numbers, citations and references their text. Links lead to the
site if its address is known; if not, they name the page. Jupyter, Colab and editors render the
result without MyST. An unknown node raises an error, so that no markup is lost silently.
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
DELIMITERS = {nodes.strong: "**", nodes.emphasis: "*", nodes.title_reference: "*"}
TAGS = {nodes.superscript: "sup", nodes.subscript: "sub"}
LISTS = {"record", "reference"}
"""Pages of many entries. Links to them name the entry; the page's title would add nothing."""
LINES_PER_CELL = 10_000
"""MyST-NB numbers the lines of cell n, counted from 0, starting at (n + 1) times this number."""


def cell_number(node):
    """Return the number of the cell that contains a node, or None."""
    lines = (getattr(part, "line", None) for part in node.findall())
    line = next(filter(None, lines), None)
    return line // LINES_PER_CELL - 1 if line else None


def blockquote(text):
    """Return text as a Markdown block quote."""
    return re.sub(r"^(.*)$", lambda line: f"> {line[1]}".rstrip(), text, flags=re.M)


def depth(section):
    """Return the depth of a section: 1 for the page itself."""
    return 1 + depth(section.parent) if isinstance(section, nodes.section) else 0


class Writer:
    """Converts the nodes of a page to Markdown.

    `address` is that of the page, `numbers` maps kinds ("section" among them) and ids to numbers,
    and `titles` maps the names of all pages to their titles.
    """

    def __init__(self, address, numbers, titles):
        self.address = address
        self.numbers = numbers
        self.titles = titles

    def number(self, kind, node):
        """Return the number of a statement or equation."""
        return ".".join(map(str, self.numbers.get(kind, {}).get(next(iter(node["ids"]), ""), ())))

    def link(self, node):
        """Return a link, or its text if its address is unknown."""
        is_download = isinstance(node, addnodes.download_reference)
        text = node.astext() if is_download else self.words(node)
        target = node.get("refuri") or f"#{node.get('refid', '')}"
        if is_download:
            target = f"../_downloads/{node['filename']}" if "filename" in node else ""
        if target and (self.address or re.match(r"\w+:", target)):
            return f"[{text}]({urljoin(self.address, target)})"
        page = PurePosixPath(target.partition("#")[0]).stem
        title = self.titles.get(page, "")
        is_clear = not title or title in text or re.search(r"\d", text) or page in LISTS
        return text if is_clear else f"{text} (see *{title}*)"

    def heading(self, node):
        """Return the title of a section, with its number if it has one."""
        anchor = f"#{node.parent['ids'][0]}" if depth(node.parent) > 1 else ""
        number = ".".join(map(str, self.numbers.get("section", {}).get(anchor, ())))
        return " ".join(filter(None, ["#" * depth(node.parent), number, self.words(node)]))

    def inline(self, node):
        """Return the Markdown of an inline node."""
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
        if mark := DELIMITERS.get(type(node)):
            return f"{mark}{inner.strip()}{mark}"
        tag = TAGS.get(type(node))
        return f"<{tag}>{inner}</{tag}>" if tag else inner

    def words(self, node):
        """Return the inline Markdown of a paragraph or a title."""
        return "".join(map(self.inline, node.children)).strip()

    def blocks(self, parts):
        """Return several blocks, separated by empty lines."""
        return "\n\n".join(filter(None, map(self.block, parts)))

    def formula(self, node):
        """Return a displayed formula, on one line because it may be in a block quote."""
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
            [self.blocks(cell.children).replace("\n\n", "<br>").replace("|", r"\|") for cell in row]
            for row in node.findall(nodes.row)
        ]
        rows.insert(1, ["---"] * len(rows[0]))
        return "\n".join(f"| {' | '.join(row)} |" for row in rows)

    def items(self, node):
        """Return a list, numbered or not."""
        first = node.get("start", 1)
        numbered = isinstance(node, nodes.enumerated_list)
        marks = (f"{first + n}." if numbered else "-" for n in range(len(node)))
        texts = (re.sub(r"\n(?=.)", "\n  ", self.blocks(item.children)) for item in node)
        return "\n".join(map("{} {}".format, marks, texts))

    def block(self, node):
        """Return a block with its content; an empty text if it has no text."""
        match node:
            case nodes.section() if isinstance(node.parent, STATEMENTS):
                return self.blocks(node.children)
            case nodes.title() if isinstance(node.parent, nodes.section):
                return self.heading(node)
            case proof_node():
                proof = self.blocks(node[0].children).rstrip()
                proof = proof.removesuffix("∎").rstrip()  # if the page has its own end mark
                return proof.replace("Proof.", "*Proof.*", 1) + r" $\square$"
            case _ if isinstance(node, STATEMENTS):
                name = f"{node['realtype'].title()} {self.number(node['countertype'], node)}"
                title = self.words(node[0]).strip("()")
                head = f"**{name.strip()}**" + f" ({title})" * bool(title)
                return blockquote(f"{head}\n\n{self.blocks(node.children[1:])}")
            case nodes.Admonition():
                title = next(iter(node.findall(nodes.title)), None)
                head = f"**{self.words(title)}**\n\n" if title else ""
                return blockquote(head + self.blocks(node.children))
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
                terms = ((self.words(i[0]), blockquote(self.blocks(i.children[1:]))) for i in node)
                return "\n\n".join(f"{term}\n\n{meaning}" for term, meaning in terms)
            case nodes.table():
                return self.table(node)
            case nodes.block_quote():
                return blockquote(self.blocks(node.children))
            case nodes.sidebar():  # a note beside the text, whose title is empty
                return blockquote(self.blocks(node.children[1:]))
            case nodes.transition():
                return "---"
            case nodes.container() if node.get("nb_element") == "cell_code":
                return self.blocks(node.findall(nodes.figure))
            case nodes.figure():
                caption = next(iter(node.findall(nodes.caption)), None)
                name = f"**Fig. {self.number('figure', node)}.** "
                return name + self.words(caption) if caption else ""
            case nodes.section() | nodes.container() | nodes.compound() | nodes.definition():
                return self.blocks(node.children)
            case _ if isinstance(node, SILENT):
                return ""
            case _ if isinstance(node, INLINE):
                return self.inline(node).strip()
            case _ if isinstance(node, nodes.General) or node.tagname == "PassthroughTextElement":
                return self.blocks(node.children)
        raise NotImplementedError(f"no Markdown for {node.tagname}: {node.astext()[:60]!r}")

    def cells(self, page):
        """Return the Markdown of each cell that has text, by the number of the cell."""
        texts_of_cell = {}

        def walk(parts):
            for part in parts:
                if isinstance(part, nodes.section):
                    walk(part.children)
                elif text := self.block(part):
                    texts_of_cell.setdefault(cell_number(part), []).append(text)

        walk(page.children)
        return {number: "\n\n".join(blocks) for number, blocks in texts_of_cell.items()}
