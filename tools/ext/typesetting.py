"""A Sphinx extension: the order of the PDF is that of the site.

Its parts have their titles, a chapter has a number if its page has one, and then the same; so what
is called Theorem 3.1 stands in chapter 3. The landing page is a chapter, the first. Proofs stand in
no box, code that a page folds is left out, and tables have the names of their files.
"""

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx_proof.nodes import proof_node

LEFT_OUT = {
    "CHANGELOG",
    "book/reference",
    "book/record",
    "book/proofs",
    "CONTRIBUTING",
}
DEEPEST = 2  # numbers go down to 1.2.3; with -1 a chapter has none, with -2 a part


def for_a_screen(node):
    """Whether a node is left out: some pages, exercises, names of tests, folded code."""
    match node:
        case addnodes.start_of_file():
            return node["docname"] in LEFT_OUT
        case nodes.section():
            return node[0].astext() == "Exercises"
        case nodes.paragraph():
            return node.astext().startswith(("Tested by", "Used here"))
        case nodes.container(parent=cell):
            code = "tag_hide-input" in cell["classes"] and "cell_input" in node["classes"]
            return code or "tag_hide-cell" in node["classes"]


def put_before(node, depth, title=""):
    """Have headings from a node on numbered down to a depth, below the title of a part."""
    part = rf"\clearpage\addcontentsline{{toc}}{{part}}{{{title}}}" if title else ""
    command = rf"{part}\setcounter{{secnumdepth}}{{{depth}}}" + "\n"
    node.parent.insert(node.parent.index(node), nodes.raw("", command, format="latex"))


class Typesetting(SphinxPostTransform):
    """Change the one tree that all pages have been put together to."""

    default_priority = 100
    formats = ("latex",)

    def run(self, **kwargs):
        """Leave out what is for a screen, name tables, and take proofs out of their boxes."""
        for node in list(self.document.findall(for_a_screen)):
            node.parent.remove(node)
        for link in list(self.document.findall(addnodes.download_reference)):
            link.replace_self(nodes.Text(link.astext().removesuffix(" (CSV)")))
        for link in list(self.document.findall(nodes.reference)):
            page, _, place = link.get("refuri", "").removeprefix("%").partition("#")
            if page in LEFT_OUT:
                table = place.partition("record-")[2]
                file = nodes.literal("", f"book/data/{table}.csv")
                link.replace_self(file if table else link.children)
        for proof in list(self.document.findall(proof_node)):
            word = next(proof.findall(nodes.Text))
            rest = nodes.Text(word.removeprefix("Proof."))
            word.parent.replace(word, [nodes.emphasis("", "Proof."), rest])
            proof.replace_self(proof[0].children)
        self.put_parts()

    def put_parts(self):
        """Put the titles of parts, and numbers or none, before the chapters."""
        parts = self.env.get_doctree(self.config.root_doc).findall(addnodes.toctree)
        titles = {part["includefiles"][0]: part["caption"] for part in parts}
        for chapter in list(self.document.findall(addnodes.start_of_file)):
            name = chapter["docname"]
            depth = DEEPEST if self.env.toc_secnumbers.get(name) else -1
            put_before(chapter, depth, titles.get(name, ""))
        # The landing page is a chapter: all that stands before the first other page.
        page = next(self.document.findall(nodes.section))
        end = page.first_child_matching_class(nodes.compound)
        page[1:end] = [nodes.section("", page[0].deepcopy(), *page[1:end])]
        put_before(page[1], -1)


def setup(app):
    """Register the extension."""
    app.add_post_transform(Typesetting)
