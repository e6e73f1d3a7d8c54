/* Extend Sphinx's search: if no page has all words, list the pages with most of them; in any case list the
   page that scorer.js puts first; and list each page once, although its index entries and its text match
   separately. Loaded only on the search page. */
"use strict";

const FIRST_SCORE = 10_000; // the score that scorer.js adds to the first page

/* Search, with partial matches. Results have Sphinx's form: [page, title, anchor, description, score, file],
   the best last. */
function searchPartially(search, [query, terms, excluded, highlighted, names]) {
  const all = search(query, terms, excluded, highlighted, names);
  if (terms.size < 2) return all;
  const resultsByFile = new Map();
  for (const term of terms) {
    for (const result of search(term, new Set([term]), excluded, highlighted, new Set())) {
      // An entry is a result with a seventh element: the words that it matches.
      const entry = resultsByFile.get(result[5]) ?? [...result.slice(0, 4), 0, result[5], new Set()];
      // With 1000 for each matched word, the number of words outweighs Sphinx's scores.
      if (!entry[6].has(term)) entry[4] += 1000 + result[4];
      entry[6].add(term);
      resultsByFile.set(result[5], entry);
    }
  }
  const partial = [...resultsByFile.values()].map((entry) => entry.slice(0, 6)).sort((a, b) => a[4] - b[4]);
  return all.length ? [...all, ...partial.filter(([, , , , score]) => score >= FIRST_SCORE)] : partial;
}

document.addEventListener("DOMContentLoaded", () => {
  const search = Search._performSearch;
  Search._performSearch = (...query) => searchPartially(search, query);
  const results = document.getElementById("search-results");
  const linkOfPage = new Map();
  new MutationObserver(() => {
    for (const link of results.querySelectorAll("li > a")) {
      const page = link.href.replace(/\?[^#]*|#index-\d+$/g, "");
      if (!linkOfPage.has(page)) linkOfPage.set(page, link);
      else if (linkOfPage.get(page) !== link) link.parentElement.remove();
    }
  }).observe(results, { childList: true, subtree: true });
});
