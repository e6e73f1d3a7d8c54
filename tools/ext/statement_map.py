"""A Sphinx extension: a map of the statements, with the references in the book's proofs.

Each row is a chapter, and each disc a statement, from which arrows lead to the statements that its
proof refers to. The template statement-map.html draws what is computed here.
"""

import re
from functools import cache

from .contents import page, pages, parts
from .proofs import shown, statements

BOX = re.compile(r"^(:{3,})\{prf:(?!definition)(\w+)\}.*\n((?s:.*?))^\1$", re.MULTILINE)
LABEL = re.compile(r"^:label: (\S+)$", re.MULTILINE)
REFERENCE = re.compile(r"\{prf:ref\}`([\w-]+)`")
PLACE = re.compile(r'<div class="statement-map docutils container">.*?</div>', re.DOTALL)
# In units of 1/16 rem: the first disc, the distances of discs and of rows, the end of an arrow.
LEFT, COLUMN, ROW, END = 302, 86, 36, 8
COLUMNS, LANES = 9, 5


@cache
def chapters():
    """Return, for each page with numbered statements, their labels, kinds and references."""
    boxes_of_page = {}
    for name in pages():
        text = "\n\n".join(c.source for c in page(name).cells if c.cell_type == "markdown")
        boxes, last = {}, {}
        for _, kind, body in BOX.findall(text):
            if kind == "proof":  # of the last statement, unless it says otherwise
                label = last["theorem" if body.startswith("(*Of the theorem.*)") else "any"]
                boxes[label][1].extend(REFERENCE.findall(body))
            else:
                last["any"] = last[kind] = LABEL.search(body)[1]
                boxes[last[kind]] = (kind, [])
        boxes_of_page |= {name: boxes} if boxes else {}
    return boxes_of_page


@cache
def references():
    """Return the statements to which the proof of each statement refers, in their order."""
    boxes = {label: box for chapter in chapters().values() for label, box in chapter.items()}
    return {a: [b for b in dict.fromkeys(named) if b in boxes] for a, (_, named) in boxes.items()}


def dependencies(label):
    """Return all statements to which a proof refers, directly or through other proofs."""
    reached, pending = set(), [label]
    while pending:
        new = {*references()[pending.pop()]} - reached
        reached |= new
        pending += new
    return reached


def counts():
    """Return how many statements of each kind refer to which others, in two sentences."""
    behind = {label: {*map(shown, dependencies(label))} for label in references()}
    of_checked = [verdicts for label, verdicts in behind.items() if shown(label) == "checked"]
    of_by_hand = [verdicts for label, verdicts in behind.items() if shown(label) == "by hand"]
    to_hand = sum("by hand" in verdicts for verdicts in of_checked)
    to_part = sum("in part" in verdicts for verdicts in of_checked)
    to_checked, to_none = of_by_hand.count({"checked"}), of_by_hand.count(set())
    return (
        f"Of the proofs that the pages give for the {len(of_checked)} *checked* statements, "
        f"{refer(to_hand)}, directly or through others, to a statement proved *by hand*, and "
        f"{refer(to_part)} to a statement checked *in part*. Of the {len(of_by_hand)} proofs "
        f"*by hand*, {refer(to_checked)} only to *checked* statements, and {refer(to_none)} to no "
        "other statement."
    )


def refer(number):
    """Return a number of proofs with its verb."""
    return {0: "none refers", 1: "one refers"}.get(number, f"{number} refer")


def layout():
    """Return the place of each statement, that of each row by its title, and the total height."""
    spots, rows, y = {}, {}, -10
    for part, names in parts().items():
        for name in (name for name in names if name in chapters()):
            if part not in rows:
                rows[part] = y = y + ROW
            rows[name] = y + ROW
            for i, label in enumerate(chapters()[name]):
                y += ROW * (i % COLUMNS == 0)
                spots[label] = (LEFT + COLUMN * (i % COLUMNS), y)
    return spots, rows, y + 20


def curve(start, end, lane):
    """Return the path of an arrow. All long arrows to one statement share a lane."""
    (x, y), (u, v) = start, end
    sign = 1 if v > y else -1  # down or up
    leave, arrive = f"M{x} {y}C{x} {y + 22 * sign} ", f" {u} {v - 22 * sign} {u} {v - END * sign}"
    if y == v:
        leave, arrive, sign = f"M{x} {y}C{x} {y - 24} ", f"{u} {y - 24} {u} {y - END}", 1
    elif abs(v - y) > ROW:
        w = u - 9 - 3 * lane
        leave += f"{w} {y + 14 * sign} {w} {y + ROW * sign}V{v - ROW * sign}C{w} {v - 22 * sign}"
    return f"{leave}{arrive}m-3 {-4 * sign}l3 {4 * sign}l3 {-4 * sign}"


def insert_map(app, name, template, context, tree):
    """Draw the map into its place on a page."""
    if PLACE.search(context.get("body", "")):
        pairs = [(a, b) for a, named in references().items() for b in named]
        spots, rows, height = layout()
        lanes = {b: i % LANES for i, b in enumerate(sorted({b for _, b in pairs}, key=spots.get))}
        arrows = {(a, b): curve(spots[a], spots[b], lanes[b]) for a, b in pairs}
        facts = {"spots": spots, "rows": rows, "height": height, "arrows": arrows, "env": app.env}
        facts |= {"known": {label: shown(label) for label in spots}}
        facts |= {"chapters": chapters(), "titles": statements()}
        drawn = app.builder.templates.render("statement-map.html", facts)
        context["body"] = PLACE.sub(lambda _: drawn, context["body"])


def setup(app):
    """Register the extension."""
    app.connect("html-page-context", insert_map)
