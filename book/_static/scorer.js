/* How the search orders pages, by Sphinx's option html_search_scorer: a page that a question is about comes
   first. Below are the words of such questions; the longest that fit decide. */
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

  const asked = new Set(new URLSearchParams(location.search).get("q")?.toLowerCase().match(/[\w-]+/g));
  const fitting = Object.keys(ABOUT).filter((words) => words.split(" ").every((word) => asked.has(word)));
  const first = ABOUT[fitting.sort((one, other) => other.length - one.length)[0]];

  return {
    score: ([page, , , , score]) => (page === first ? score + 10_000 : score),
    // The others are Sphinx's own.
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
