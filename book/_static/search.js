/* The search: if no page has all words, it lists those with most of them; the page that a question is about
   comes first in any case (scorer.js); and a page is listed once, not for its entries in the index and
   again for its text. Loaded on the page of the search alone. */
"use strict";

const ABOUT = 10_000;

/* Results as Sphinx has them: [page, title, anchor, description, score, file], the best last. */
function withMost(search, [query, terms, excluded, highlighted, names]) {
  const all = search(query, terms, excluded, highlighted, names);
  if (terms.size < 2) return all;
  const found = new Map();
  for (const term of terms) {
    for (const result of search(term, new Set([term]), excluded, highlighted, new Set())) {
      const known = found.get(result[5]) ?? [...result.slice(0, 4), 0, result[5], new Set()];
      if (!known[6].has(term)) known[4] += 1000 + result[4];
      known[6].add(term);
      found.set(result[5], known);
    }
  }
  const some = [...found.values()].map((result) => result.slice(0, 6)).sort((one, other) => one[4] - other[4]);
  return all.length ? [...all, ...some.filter(([, , , , score]) => score >= ABOUT)] : some;
}

document.addEventListener("DOMContentLoaded", () => {
  const search = Search._performSearch;
  Search._performSearch = (...query) => withMost(search, query);
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
