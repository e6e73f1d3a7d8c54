"""A Sphinx extension: the PDF has the structure of the site.

Its parts have the same titles and its chapters the same numbers, or none, as on the site, so
Theorem 3.1 is in chapter 3. The landing page is the first chapter. Proofs are not in boxes, code
that is folded on a page is omitted, and links to records of tables become file names.
"""

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx_proof.nodes import proof_node

OMITTED_PAGES = {
    "CHANGELOG",
    "book/reference",
    "book/record",
    "book/proofs",
    "CONTRIBUTING",
}
DEEPEST = 2  # numbers down to 1.2.3; -1 would number parts only, -2 nothing


def is_screen_only(node):
    """Whether the PDF omits a node: some pages, exercises, names of tests, folded code."""
    match node:
        case addnodes.start_of_file():
            return node["docname"] in OMITTED_PAGES
        case nodes.section():
            return node[0].astext() == "Exercises"
        case nodes.paragraph():
            return node.astext().startswith(("Tested by", "Used here"))
        case nodes.container(parent=cell):
            code = "tag_hide-input" in cell["classes"] and "cell_input" in node["classes"]
            return code or "tag_hide-cell" in node["classes"]


def insert_numbering(node, depth, title=""):
    """Set the depth of numbering, beginning at a node; with a title, start a part there."""
    part = rf"\clearpage\addcontentsline{{toc}}{{part}}{{{title}}}" if title else ""
    command = rf"{part}\setcounter{{secnumdepth}}{{{depth}}}" + "\n"
    node.parent.insert(node.parent.index(node), nodes.raw("", command, format="latex"))


class Typesetting(SphinxPostTransform):
    """Change the document tree, into which Sphinx has assembled all pages."""

    default_priority = 100
    formats = ("latex",)

    def run(self, **kwargs):
        """Remove what is for screens only, name tables, and take proofs out of their boxes."""
        for node in list(self.document.findall(is_screen_only)):
            node.parent.remove(node)
        for link in list(self.document.findall(addnodes.download_reference)):
            link.replace_self(nodes.Text(link.astext().removesuffix(" (CSV)")))
        for link in list(self.document.findall(nodes.reference)):
            page, _, anchor = link.get("refuri", "").removeprefix("%").partition("#")
            if page in OMITTED_PAGES:
                table = anchor.partition("record-")[2]
                file = nodes.literal("", f"book/data/{table}.csv")
                link.replace_self(file if table else link.children)
        for proof in list(self.document.findall(proof_node)):
            word = next(proof.findall(nodes.Text))
            rest = nodes.Text(word.removeprefix("Proof."))
            word.parent.replace(word, [nodes.emphasis("", "Proof."), rest])
            proof.replace_self(proof[0].children)
        self.insert_parts()

    def insert_parts(self):
        """Insert the titles of parts, and the depth of numbering, before the chapters."""
        parts = self.env.get_doctree(self.config.root_doc).findall(addnodes.toctree)
        titles = {part["includefiles"][0]: part["caption"] for part in parts}
        for chapter in list(self.document.findall(addnodes.start_of_file)):
            name = chapter["docname"]
            depth = DEEPEST if self.env.toc_secnumbers.get(name) else -1
            insert_numbering(chapter, depth, titles.get(name, ""))
        # The landing page becomes a chapter: everything before the first other page.
        page = next(self.document.findall(nodes.section))
        end = page.first_child_matching_class(nodes.compound)
        page[1:end] = [nodes.section("", page[0].deepcopy(), *page[1:end])]
        insert_numbering(page[1], -1)


def setup(app):
    """Register the extension."""
    app.add_post_transform(Typesetting)
