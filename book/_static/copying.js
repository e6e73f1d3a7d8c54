/* What is copied from a page has each formula as its TeX, in dollars, where browsers would take the
   glyphs one by one. */
"use strict";

const SET = ".math[data-tex]";

function asTex(formula) {
  const { tex } = formula.dataset;
  return formula.matches("div") ? `\n$$${tex}$$\n` : `$${tex}$`;
}

/* The selection as a copy of its elements; within one formula, that formula. */
function selected(selection) {
  const copy = document.createElement("div");
  for (let i = 0; i < selection.rangeCount; i += 1) {
    const range = selection.getRangeAt(i), at = range.commonAncestorContainer;
    const inside = (at.closest ? at : at.parentElement)?.closest(SET);
    copy.append(inside ? inside.cloneNode(true) : range.cloneContents());
  }
  return copy;
}

document.addEventListener("copy", (event) => {
  if (event.target.closest?.("input, textarea")) return;
  const copy = selected(getSelection());
  const formulas = copy.querySelectorAll(SET);
  if (!formulas.length) return;
  for (const formula of formulas) formula.replaceWith(asTex(formula));
  // Lines are where the page has them only while the copy is on the page.
  copy.style = "position: fixed; left: -100vw; width: 90vw; white-space: pre-wrap";
  document.body.append(copy);
  event.clipboardData.setData("text/plain", copy.innerText);
  copy.removeAttribute("style");
  event.clipboardData.setData("text/html", copy.innerHTML);
  copy.remove();
  event.preventDefault();
});
