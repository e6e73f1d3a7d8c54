"""A Sphinx extension: the order of the PDF is that of the site.

Its parts have their titles, a chapter has a number if its page has one, and then the same; so what
is called Theorem 3.1 stands in chapter 3. The landing page is a chapter, the first. Proofs stand in
no box, code that a page folds is left out, and what a click would download has its name.
"""

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx_proof.nodes import proof_node

LEFT_OUT = {"book/reference", "book/record", "book/benchmarks", "CONTRIBUTING"}
DEEPEST = 2  # numbers go down to 1.2.3; with -1 a chapter has none, with -2 a part


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
        """Change parts, proofs and downloads."""
        self.leave_out()
        self.put_parts()
        for proof in list(self.document.findall(proof_node)):
            (box,) = proof.children
            word = next(box.findall(nodes.Text))
            rest = nodes.Text(word.removeprefix("Proof."))
            word.parent.replace(word, [nodes.emphasis("", "Proof."), rest])
            proof.replace_self(box.children)
        # "The numbers (file)" for "the numbers (CSV) (how it was made)".
        for link in list(self.document.findall(addnodes.download_reference)):
            words, place = link.astext().removesuffix(" (CSV)"), link.parent.index(link)
            after = link.parent.children[place + 1 : place + 4]
            if [node.astext() for node in after] == [" (", "how it was made", ")"]:
                del link.parent.children[place + 1 : place + 4]
            file = nodes.literal("", f"book/{link['reftarget']}")
            link.replace_self([nodes.Text(f"{words} ("), file, nodes.Text(")")])

    def leave_out(self):
        """Leave out what is for a screen: folded code, exercises, names of tests, some pages."""
        for part in list(self.document.findall(nodes.section)):
            if part[0].astext() == "Exercises":
                part.parent.remove(part)
        for words in list(self.document.findall(nodes.paragraph)):
            if words.astext().startswith(("Tested by", "Used here")):
                words.parent.remove(words)
        for page in list(self.document.findall(addnodes.start_of_file)):
            if page["docname"] in LEFT_OUT:
                page.parent.remove(page)
        for link in list(self.document.findall(nodes.reference)):
            if link.get("refuri", "").partition("#")[0].removeprefix("%") in LEFT_OUT:
                link.replace_self(link.children)
        for cell in list(self.document.findall(nodes.container)):
            if cell.get("nb_element") == "cell_code":
                shown = [] if "tag_hide-cell" in cell["classes"] else cell.children
                if "tag_hide-input" in cell["classes"]:
                    shown = [n for n in shown if n.get("nb_element") != "cell_code_source"]
                cell.children = shown

    def put_parts(self):
        """Put the titles of parts, and numbers or none, before the chapters."""
        chapters = {node["docname"]: node for node in self.document.findall(addnodes.start_of_file)}
        root = self.env.get_doctree(self.config.root_doc)
        for toctree in root.findall(addnodes.toctree):
            depth, title = DEEPEST if toctree["numbered"] else -1, toctree["caption"]
            for name in (name for name in toctree["includefiles"] if name not in LEFT_OUT):
                put_before(chapters[name], depth, title)
                title = ""
        # The landing page is a chapter: all that stands before the first other page.
        page, first = self.document[0], next(iter(chapters.values()))
        before = page.index(next(n for n in page if first in n.findall()))
        title, *rest = page.children[:before]
        page.children[1:before] = []
        page.insert(1, nodes.section("", title.deepcopy(), *rest))
        put_before(page[1], -1)


def setup(app):
    """Register the extension."""
    app.add_post_transform(Typesetting)
