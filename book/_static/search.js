/* Extend Sphinx's search: if no page has all words, list the pages with most of them; list the page that
   scorer.js puts first in any case; and list each page once, not for its index entries and again for its
   text. Loaded only on the search page. */
"use strict";

const FIRST_SCORE = 10_000; // the score that scorer.js adds to the first page

/* Search, with partial matches. Results have Sphinx's form: [page, title, anchor, description, score, file],
   the best last. */
function searchPartially(search, [query, terms, excluded, highlighted, names]) {
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
  return all.length ? [...all, ...some.filter(([, , , , score]) => score >= FIRST_SCORE)] : some;
}

document.addEventListener("DOMContentLoaded", () => {
  const search = Search._performSearch;
  Search._performSearch = (...query) => searchPartially(search, query);
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
