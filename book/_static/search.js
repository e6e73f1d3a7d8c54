/* The search lists a page once: the words that an index has for it lead to the page itself. */
"use strict";

document.addEventListener("DOMContentLoaded", () => {
  if (typeof Search === "undefined") return; // another page
  const everything = Search._performSearch;
  Search._performSearch = (...asked) => {
    const best = new Map(); // the best come last
    for (const found of everything(...asked)) {
      const [page, , anchor] = found;
      const place = `${page}${anchor?.startsWith("#index-") ? "" : (anchor ?? "")}`;
      best.delete(place);
      best.set(place, found);
    }
    return [...best.values()];
  };
});
