/* Repairs to the markup of the theme and its extensions, so that every page can be read by ear and
   used from the keyboard; and light colours on paper, whatever the screen shows. */
"use strict";

const each = (selector, change) => document.querySelectorAll(selector).forEach(change);

function repair() {
  // A label that differs from the words on the button hides them from those who say them.
  each(".search-button-field, summary[aria-label]", (node) => node.removeAttribute("aria-label"));
  each(".theme-switch-button", (node) => {
    node.insertAdjacentHTML("afterbegin", `<span class="visually-hidden">${node.ariaLabel}:</span>`);
    node.removeAttribute("aria-label");
  });
  // The name of the book stands outside of any region.
  each(".navbar-brand", (node) => {
    node.parentElement.setAttribute("role", "navigation");
    node.parentElement.setAttribute("aria-label", "Home");
  });
  // A list whose entries are not items, in a role that is no longer used.
  each("[role=doc-biblioentry], .citation-list", (node) => node.removeAttribute("role"));
  // A long name breaks after an underscore or a dot, if it has to.
  each(".bd-article :not(pre, a) > code:not(:has(*))", (node) => {
    const parts = node.textContent.split(/(?<=[_.])(?=\w)/);
    node.replaceChildren(...parts.flatMap((part, i) => (i ? [document.createElement("wbr"), part] : [part])));
  });
  // An empty corner of a table heads nothing.
  each("th", (node) => {
    if (!node.textContent.trim()) node.replaceWith(document.createElement("td"));
  });
}

/* What scrolls sideways must be reachable by Tab; but nothing in a preview, which is only looked at. */
const FORMULA = ".math, mjx-container[display]";
const SCROLLING = `:is(pre, .output, .admonition, ${FORMULA}, .pst-scrollable-table-container):not(#preview *)`;

/* Boxes and formulas within a line scroll only if something in them is too wide: a letter that leans over
   its end is not. */
function isWide(node) {
  if (node.matches("span.math")) return node.firstElementChild.offsetWidth > node.clientWidth + 1;
  return node.scrollWidth > node.clientWidth + (node.matches(".admonition") ? 1 : 0);
}

function reach() {
  each(SCROLLING, (node) => {
    const scrolls = isWide(node);
    node.classList.toggle("scrolls", scrolls && node.matches("span.math, .admonition"));
    if (scrolls && node.tabIndex !== 0) node.tabIndex = 0;
    if (node.matches(FORMULA)) nameFormula(node, scrolls);
  });
}

/* A formula is a tab stop only while it scrolls, and then says why; the theme sees to all else. */
function nameFormula(node, scrolls) {
  if (scrolls) {
    node.role = "group";
    node.ariaLabel = "Formula, wider than the page: scroll sideways";
  } else {
    for (const name of ["tabindex", "role", "aria-label"]) node.removeAttribute(name);
  }
}

/* Whoever follows a number to its cell wants to see the code; a statement may stand in a folded box,
   and what Coq has checked of it does. */
function unfold() {
  const target = document.getElementById(location.hash.slice(1));
  const checked = location.hash.startsWith("#machine-") ? target?.closest("section") : null;
  const folded = target?.closest(".toggle-hidden") ?? checked?.querySelector(".toggle-hidden");
  folded?.querySelector(".toggle-button").click();
  if (folded) target.scrollIntoView();
  if (!location.hash.startsWith("#cell-")) return;
  const cell = target?.nextElementSibling;
  cell?.querySelectorAll("details").forEach((folded) => (folded.open = true));
}

document.addEventListener("DOMContentLoaded", repair);
window.addEventListener("load", unfold); // when all boxes are folded
window.addEventListener("hashchange", unfold);
// Sizes change with the window and with what is unfolded; a formula's width also with its fonts.
document.addEventListener("DOMContentLoaded", () => {
  const sizes = new ResizeObserver(reach);
  each(SCROLLING, (node) => sizes.observe(node));
});
document.fonts.ready.then(reach);
// The theme takes the tab stop away from what it found too narrow to scroll, some time after a resize.
new MutationObserver(reach).observe(document.documentElement, {
  subtree: true,
  attributeFilter: ["tabindex"],
});

matchMedia("print").addEventListener("change", ({ matches: printing }) => {
  const { dataset } = document.documentElement;
  if (printing) dataset.screenTheme = dataset.theme;
  dataset.theme = printing ? "light" : dataset.screenTheme;
});
