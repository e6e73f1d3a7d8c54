/* Previews: hovering over or focusing a link to a statement, equation, figure, reference, function or code
   shows its target in a box. Escape closes it. Other pages are fetched once; on file://, where this is not
   possible, only links within the page have previews. */
"use strict";

(() => {
  const LINKS = '.bd-article a.reference[href*="#"]';
  const TARGETS = ".proof, figure, div.math, div.citation, dt.sig, .unit";
  const DELAY = 250; // ms, both to open and to close: time to move from the link into the preview
  const GAP = 6; // px

  const box = Object.assign(document.createElement("div"), { id: "preview", hidden: true });
  box.setAttribute("role", "tooltip");
  const thisPage = location.href.split("#")[0];
  const pages = new Map([[thisPage, Promise.resolve(document)]]);
  let link = null; // the link whose preview is open, or about to be
  let opening;
  let closing;

  function page(address) {
    if (!pages.has(address)) {
      const parse = (html) => new DOMParser().parseFromString(html, "text/html");
      const read = (response) => (response.ok ? response.text() : Promise.reject(response.status));
      pages.set(address, fetch(address).then(read).then(parse));
    }
    return pages.get(address);
  }

  /* A copy that is not interactive: without links, buttons, tab stops and ids. */
  function copy(element, address) {
    const clone = document.importNode(element, true);
    clone.querySelectorAll(".headerlink, button, script").forEach((node) => node.remove());
    for (const node of [clone, ...clone.querySelectorAll("*")]) {
      for (const name of ["id", "href", "title"]) node.removeAttribute(name);
    }
    clone.querySelectorAll("img").forEach((image) => {
      image.src = new URL(image.getAttribute("src"), address);
    });
    return clone;
  }

  /* Wrap code in the elements that the styles of highlighted code expect. */
  function framed(code) {
    const frame = Object.assign(document.createElement("div"), { className: "highlight" });
    frame.append(document.createElement("pre"));
    frame.firstChild.append(code);
    return frame;
  }

  /* The target of a link; for a function in the reference, its signature and first paragraph. */
  async function target(url) {
    const [address, id] = url.split("#");
    if (address !== thisPage && location.protocol === "file:") return [];
    const element = (await page(address)).getElementById(decodeURIComponent(id));
    if (!element?.matches(TARGETS)) return [];
    const summary = element.matches("dt") ? element.nextElementSibling.querySelector("p") : null;
    const parts = [element, summary].filter(Boolean).map((part) => copy(part, address));
    return element.matches(".unit") ? parts.map(framed) : parts;
  }

  async function show(parts) {
    box.replaceChildren(...parts);
    await Promise.allSettled([...box.querySelectorAll("img")].map((image) => image.decode()));
  }

  /* Place the box below the link if it fits, otherwise above, and within the window. */
  function place() {
    const linkBox = link.getClientRects()[0];
    const below = innerHeight - linkBox.bottom - 2 * GAP;
    const above = linkBox.top - 2 * GAP;
    box.style.maxHeight = `${Math.max(above, below)}px`;
    const isBelow = box.offsetHeight <= below || below >= above;
    const top = isBelow ? linkBox.bottom + GAP : linkBox.top - GAP - box.offsetHeight;
    const maxLeft = document.documentElement.clientWidth - box.offsetWidth - GAP;
    const frame = box.offsetParent.getBoundingClientRect();
    box.style.top = `${top - frame.top}px`;
    box.style.left = `${Math.max(GAP, Math.min(linkBox.left, maxLeft)) - frame.left}px`;
  }

  async function open() {
    const requested = link;
    const parts = await target(requested.href).catch(() => []);
    if (!parts.length || link !== requested) return;
    box.hidden = false;
    await show(parts);
    if (link !== requested) return;
    requested.removeAttribute("title"); // a tooltip beside the preview would be redundant
    requested.setAttribute("aria-describedby", box.id);
    place();
    box.classList.add("open");
  }

  function close() {
    clearTimeout(opening);
    clearTimeout(closing);
    link?.removeAttribute("aria-describedby");
    link = null;
    box.hidden = true;
    box.classList.remove("open");
    box.replaceChildren();
  }

  function scheduleOpen(next) {
    clearTimeout(closing);
    if (next === link) return;
    close();
    link = next;
    opening = setTimeout(open, DELAY);
  }

  function scheduleClose() {
    clearTimeout(closing);
    if (link) closing = setTimeout(close, DELAY);
  }

  // The theme later adds tab stops to elements that scroll; remove them.
  new MutationObserver(() => {
    box.querySelectorAll("[tabindex]").forEach((node) => node.removeAttribute("tabindex"));
  }).observe(box, { subtree: true, childList: true, attributeFilter: ["tabindex"] });

  document.addEventListener("DOMContentLoaded", () => document.querySelector("main")?.append(box));
  document.addEventListener("pointerover", ({ target: hovered, pointerType }) => {
    if (pointerType !== "mouse") return; // a finger does not hover
    const next = box.contains(hovered) ? link : hovered.closest(LINKS);
    if (next) scheduleOpen(next);
    // A preview opened by focus stays open, because focusing may scroll the page under a resting mouse.
    else if (link !== document.activeElement) scheduleClose();
  });
  document.addEventListener("focusin", ({ target: next }) => {
    if (next.matches(LINKS) && next.matches(":focus-visible")) scheduleOpen(next);
  });
  document.addEventListener("focusout", scheduleClose);
  document.addEventListener("keydown", ({ key }) => key === "Escape" && close());
})();
