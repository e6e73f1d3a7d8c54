/* The search lists a page once: the words that an index has for it lead to the page itself. And it may be
   asked a whole question: the words that any question has are not looked for, and what the index has about
   the others comes first. */
"use strict";

const QUESTION = new Set(
  "a an are can do does for from happens how i in is it me my of on should the this to we what when where which why with you your".split(" "),
);

const sought = (question) => {
  const words = question.toLowerCase().split(/[\s?]+/);
  return words.filter((word) => word && !QUESTION.has(word));
};

/* Results from entries of the index of which all words are in the question, the longest last. */
const fromIndex = (question) => {
  const asked = new Set(sought(question));
  const { docnames, filenames, indexentries, titles } = Search._index;
  const fitting = Object.entries(indexentries).filter(([entry]) => {
    const words = sought(entry);
    return words.length && words.every((word) => asked.has(word));
  });
  fitting.sort(([one], [other]) => one.length - other.length);
  return fitting.flatMap(([, places]) =>
    places
      .filter(([, , isMain]) => isMain)
      .map(([page, anchor]) => [docnames[page], titles[page], `#${anchor}`, null, 100, filenames[page]]),
  );
};

document.addEventListener("DOMContentLoaded", () => {
  if (typeof Search === "undefined") return; // another page
  const everything = Search._performSearch;
  Search._performSearch = (question, ...asked) => {
    const best = new Map(); // the best come last
    for (const found of [...everything(question, ...asked), ...fromIndex(question)]) {
      const [page, , anchor] = found;
      const place = `${page}${anchor?.startsWith("#index-") ? "" : (anchor ?? "")}`;
      best.delete(place);
      best.set(place, found);
    }
    return [...best.values()];
  };
  const answer = Search.query;
  Search.query = (question) => answer(sought(question).join(" ") || question);
});
