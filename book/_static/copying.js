/* Copy formulas from a page as TeX between dollar signs; browsers would copy single glyphs. */
"use strict";

const TEX_FORMULA = ".math[data-tex]";

function asTex(formula) {
  const { tex } = formula.dataset;
  return formula.matches("div") ? `\n$$${tex}$$\n` : `$${tex}$`;
}

/* A copy of the selected elements; a selection within a formula counts as the whole formula. */
function copyOf(selection) {
  const copy = document.createElement("div");
  for (let i = 0; i < selection.rangeCount; i += 1) {
    const range = selection.getRangeAt(i), ancestor = range.commonAncestorContainer;
    const formula = (ancestor.closest ? ancestor : ancestor.parentElement)?.closest(TEX_FORMULA);
    copy.append(formula ? formula.cloneNode(true) : range.cloneContents());
  }
  return copy;
}

document.addEventListener("copy", (event) => {
  if (event.target.closest?.("input, textarea")) return;
  const copy = copyOf(getSelection());
  const formulas = copy.querySelectorAll(TEX_FORMULA);
  if (!formulas.length) return;
  for (const formula of formulas) formula.replaceWith(asTex(formula));
  // innerText has the line breaks of the layout only while the copy is on the page.
  copy.style = "position: fixed; left: -100vw; width: 90vw; white-space: pre-wrap";
  document.body.append(copy);
  event.clipboardData.setData("text/plain", copy.innerText);
  copy.removeAttribute("style");
  event.clipboardData.setData("text/html", copy.innerHTML);
  copy.remove();
  event.preventDefault();
});
