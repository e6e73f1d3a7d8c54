"""A Sphinx extension: a map of what rests on what, drawn from the references in the book's proofs.

Each row is a chapter, and each disc a statement, from which arrows lead to the statements that its
proof refers to. The template statement-map.html draws what is computed here.
"""

import re
from functools import cache

from .contents import page, pages, parts
from .proofs import BY_HAND, checked, statements

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
    found = {}
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
        found |= {name: boxes} if boxes else {}
    return found


@cache
def references():
    """Return the statements to which the proof of each statement refers, in their order."""
    boxes = {label: box for found in chapters().values() for label, box in found.items()}
    return {a: [b for b in dict.fromkeys(named) if b in boxes] for a, (_, named) in boxes.items()}


def behind(label):
    """Return all statements to which a proof refers, directly or through other proofs."""
    found, todo = set(), [label]
    while todo:
        new = {*references()[todo.pop()]} - found
        found |= new
        todo += new
    return found


def verdict(label):
    """Return how a statement is known."""
    return checked().get(label, BY_HAND)[0]


def counts():
    """Return how many statements of each kind rest on which others, in two sentences."""
    known = {label: {*map(verdict, behind(label))} for label in references()}
    whole = [found for label, found in known.items() if verdict(label) == "checked"]
    by_hand = [found for label, found in known.items() if verdict(label) == "by hand"]
    weak, half = (sum(kind in found for found in whole) for kind in ("by hand", "in part"))
    sound, alone = by_hand.count({"checked"}), by_hand.count(set())
    rest = [f"{n or 'none'} {'rest' if n > 1 else 'rests'}" for n in (weak, sound, alone)]
    return (
        f"Of the {len(whole)} *checked* statements, {rest[0]} on one *by hand*, directly or "
        f"through other proofs on the pages, and {half or 'none'} on one *in part*. Of the "
        f"{len(by_hand)} *by hand*, {rest[1]} only on *checked* ones, and {rest[2]} on no other."
    )


def layout():
    """Return the place of each statement, the height of each row by its title, and the whole."""
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
    """Return the path of an arrow. All that lead far up or down to one statement share a lane."""
    (x, y), (u, v) = start, end
    way = 1 if v > y else -1  # down or up
    leave, arrive = f"M{x} {y}C{x} {y + 22 * way} ", f" {u} {v - 22 * way} {u} {v - END * way}"
    if y == v:
        leave, arrive, way = f"M{x} {y}C{x} {y - 24} ", f"{u} {y - 24} {u} {y - END}", 1
    elif abs(v - y) > ROW:
        w = u - 9 - 3 * lane
        leave += f"{w} {y + 14 * way} {w} {y + ROW * way}V{v - ROW * way}C{w} {v - 22 * way}"
    return f"{leave}{arrive}m-3 {-4 * way}l3 {4 * way}l3 {-4 * way}"


def insert_map(app, name, template, context, tree):
    """Draw the map into its place on a page."""
    if PLACE.search(context.get("body", "")):
        pairs = [(a, b) for a, named in references().items() for b in named]
        spots, rows, height = layout()
        lanes = {b: i % LANES for i, b in enumerate(sorted({b for _, b in pairs}, key=spots.get))}
        arrows = {(a, b): curve(spots[a], spots[b], lanes[b]) for a, b in pairs}
        facts = {"spots": spots, "rows": rows, "height": height, "arrows": arrows, "env": app.env}
        facts |= {"known": {label: verdict(label) for label in spots}}
        facts |= {"chapters": chapters(), "titles": statements()}
        drawn = app.builder.templates.render("statement-map.html", facts)
        context["body"] = PLACE.sub(lambda _: drawn, context["body"])


def setup(app):
    """Register the extension."""
    app.connect("html-page-context", insert_map)
