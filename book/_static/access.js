/* Fix the markup of the theme and its extensions, so that every page works with a screen reader and with
   the keyboard; and print in light colours, also from the dark theme. */
"use strict";

const each = (selector, change) => document.querySelectorAll(selector).forEach(change);

function fixMarkup() {
  // Voice control finds a button by its visible text, which a different aria-label would hide.
  each(".search-button-field, summary[aria-label]", (node) => node.removeAttribute("aria-label"));
  each(".theme-switch-button", (node) => {
    node.insertAdjacentHTML("afterbegin", `<span class="visually-hidden">${node.ariaLabel}:</span>`);
    node.removeAttribute("aria-label");
  });
  // The name of the book is outside any landmark.
  each(".navbar-brand", (node) => {
    node.parentElement.setAttribute("role", "navigation");
    node.parentElement.setAttribute("aria-label", "Home");
  });
  // Deprecated roles, and lists whose entries are not list items.
  each("[role=doc-biblioentry], .citation-list", (node) => node.removeAttribute("role"));
  // Allow line breaks after the underscores and dots of long names.
  each(".bd-article :not(pre, a) > code:not(:has(*))", (node) => {
    const parts = node.textContent.split(/(?<=[_.])(?=\w)/);
    node.replaceChildren(...parts.flatMap((part, i) => (i ? [document.createElement("wbr"), part] : [part])));
  });
  // Save the notebook, even if the server says that it is text, and not in a new tab.
  each(".btn-download-source-button", (link) => {
    link.download = "";
    link.removeAttribute("target");
  });
  // An empty corner of a table is not a header.
  each("th", (node) => {
    if (!node.textContent.trim()) node.replaceWith(document.createElement("td"));
  });
}

/* Elements that scroll sideways must be reachable by Tab, except in a preview, which is not interactive. */
const FORMULA = ".math, mjx-container[display]";
const SCROLLING = `:is(pre, .output, .admonition, ${FORMULA}, .pst-scrollable-table-container):not(#preview *)`;

/* Whether the content is too wide. A tolerance of a pixel is for italic letters that lean over the edge. */
function isWide(node) {
  if (node.matches("span.math")) return node.firstElementChild.offsetWidth > node.clientWidth + 1;
  return node.scrollWidth > node.clientWidth + (node.matches(".admonition") ? 1 : 0);
}

function updateTabStops() {
  each(SCROLLING, (node) => {
    const scrolls = isWide(node);
    node.classList.toggle("scrolls", scrolls && node.matches("span.math, .admonition"));
    if (scrolls && node.tabIndex !== 0) node.tabIndex = 0;
    if (node.matches(FORMULA)) nameFormula(node, scrolls);
  });
}

/* A formula is a tab stop only while it scrolls, with a label that says so; the theme handles all others. */
function nameFormula(node, scrolls) {
  if (scrolls) {
    node.role = "group";
    node.ariaLabel = "Formula, wider than the page: scroll sideways";
  } else {
    for (const name of ["tabindex", "role", "aria-label"]) node.removeAttribute(name);
  }
}

/* Open what hides the target of a link: the code of a cell, the folded box around a statement, or the
   folded Coq theorems about it. */
function unfoldTarget() {
  const target = document.getElementById(location.hash.slice(1));
  const checked = location.hash.startsWith("#machine-") ? target?.closest("section") : null;
  const folded = target?.closest(".toggle-hidden") ?? checked?.querySelector(".toggle-hidden");
  folded?.querySelector(".toggle-button").click();
  if (folded) target.scrollIntoView();
  if (!location.hash.startsWith("#cell-")) return;
  const cell = target?.nextElementSibling;
  cell?.querySelectorAll("details").forEach((folded) => (folded.open = true));
}

/* After a side panel is closed, the focus returns to the button that opened it. */
function returnFocus() {
  let opener;
  document.addEventListener("click", ({ target }) => {
    opener = target.closest(".primary-toggle, .secondary-toggle") ?? opener;
  }, true);
  document.addEventListener("close", ({ target }) => {
    if (target.matches("dialog[id*=sidebar]")) opener?.focus();
  }, true); // the event does not bubble
}

document.addEventListener("DOMContentLoaded", fixMarkup);
returnFocus();
window.addEventListener("load", unfoldTarget); // after the theme has folded its boxes
window.addEventListener("hashchange", unfoldTarget);
// Sizes change with the window and when boxes are unfolded; a formula's width also when its fonts load.
document.addEventListener("DOMContentLoaded", () => {
  const sizes = new ResizeObserver(updateTabStops);
  each(SCROLLING, (node) => sizes.observe(node));
});
document.fonts.ready.then(updateTabStops);
// Some time after a resize, the theme removes tab stops from elements that it measures as not scrolling.
new MutationObserver(updateTabStops).observe(document.documentElement, {
  subtree: true,
  attributeFilter: ["tabindex"],
});

matchMedia("print").addEventListener("change", ({ matches: printing }) => {
  const { dataset } = document.documentElement;
  if (printing) dataset.screenTheme = dataset.theme;
  dataset.theme = printing ? "light" : dataset.screenTheme;
});
