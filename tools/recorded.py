"""Where numbers come from, one click away: a Sphinx extension.

Every code cell gets an address, PAGE.html#cell-NN, its id in the notebook; in the text it is called
PAGE-cell-NN. Beside each link that downloads a table stands one to the table's record.
"""

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

RECORDS = "record"  # the page that shows the records; there each table is at home


class Provenance(SphinxTransform):
    """Add the addresses of cells, and the links to records."""

    default_priority = 700  # the page is whole, its references are not resolved yet

    def apply(self, **kwargs: Any) -> None:
        """Change the page at hand."""
        page = Path(self.env.docname).name
        for cell in list(self.document.findall(nodes.container)):
            if cell.get("nb_element") == "cell_code":
                name = f"cell-{cell['cell_index'] + 1:02d}"
                address = nodes.target("", "", ids=[name], names=[f"{page}-{name}"])
                cell.parent.insert(cell.parent.index(cell), address)
                self.document.note_explicit_target(address)
        for link in list(self.document.findall(addnodes.download_reference)):
            table = Path(link["reftarget"])
            if table.suffix == ".csv" and page != RECORDS:
                to = f"record-{table.stem}"
                record = addnodes.pending_xref(
                    "", refdomain="std", reftype="ref", reftarget=to, refexplicit=True, refwarn=True
                )
                record += nodes.inline("", "how it was made")
                place = link.parent.index(link) + 1
                for node in (nodes.Text(")"), record, nodes.Text(" (")):
                    link.parent.insert(place, node)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    app.add_transform(Provenance)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
