/* The order of search results (Sphinx's option html_search_scorer): for some queries, one page comes first.
   ABOUT maps words to that page; if several entries match a query, the longest one counts. */
var Scorer = (() => {
  const ABOUT = {
    "bug report": "CONTRIBUTING",
    budget: "book/decide",
    cite: "book/cite",
    clip: "book/lemma",
    contribute: "CONTRIBUTING",
    epsilon: "book/decide",
    "errors paper": "book/errata",
    licence: "book/cite",
    median: "book/frontier",
    notation: "book/notation",
    production: "book/trust",
    "release mean table": "book/decide",
  };

  const query = new Set(new URLSearchParams(location.search).get("q")?.toLowerCase().match(/[\w-]+/g));
  const matching = Object.keys(ABOUT).filter((words) => words.split(" ").every((word) => query.has(word)));
  const first = ABOUT[matching.sort((a, b) => b.length - a.length)[0]];

  return {
    // A page whose title has all words of the query comes before those that only mention them.
    score: ([page, title, anchor, , score]) => {
      if (page === first) return score + 10_000;
      return !anchor && [...query].every((word) => title.toLowerCase().includes(word)) ? score + 15 : score;
    },
    // All other scores are Sphinx's defaults.
    objNameMatch: 11,
    objPartialMatch: 6,
    objPrio: { 0: 15, 1: 5, 2: -5 },
    objPrioDefault: 0,
    title: 15,
    partialTitle: 7,
    term: 5,
    partialTerm: 2,
  };
})();
