/* The search lists a page once: not for its entries in the index and again for its text. */
"use strict";

document.addEventListener("DOMContentLoaded", () => {
  const results = document.getElementById("search-results");
  const listed = new Map();
  new MutationObserver(() => {
    for (const link of results.querySelectorAll("li > a")) {
      const page = link.href.replace(/\?[^#]*|#index-\d+$/g, "");
      if (!listed.has(page)) listed.set(page, link);
      else if (listed.get(page) !== link) link.parentElement.remove();
    }
  }).observe(results, { childList: true, subtree: true });
});
