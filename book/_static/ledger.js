// Filters above the ledger (verdict, source and kind of evidence), and rows that open on a click. Without scripts everything is shown. This is not a module, because modules do not run from file://.
{
  const article = document.querySelector(".bd-article > section");
  const rows = [...article.querySelectorAll(".cell_output dl")];
  const verdict = (row) => row.querySelector(".verdict").textContent;
  const source = (row) => (row.closest("section").id === "beyond-the-paper" ? "this book" : "the paper");
  const evidence = (row) => row.querySelector(".known")?.textContent ?? "not examined";

  function createFilter(name, value) {
    const values = [...new Set(rows.map(value))];
    const select = document.createElement("select");
    select.append(...["all", ...values].map((text) => new Option(text)));
    const label = document.createElement("label");
    label.append(`${name} `, select);
    return { label, accepts: (row) => select.selectedIndex === 0 || select.value === value(row) };
  }

  const filters = [createFilter("Verdict", verdict), createFilter("Claimed by", source), createFilter("Known by", evidence)];

  // Fold everything below the statement of a row, with its paragraphs unchanged.
  function fold(row) {
    const [, ...rest] = row.querySelectorAll("dd");
    const details = document.createElement("details");
    const summary = document.createElement("summary");
    summary.textContent = rest[0].textContent.startsWith("Note:") ? "Why, proof, code, tests" : "Proof, code, tests";
    details.append(summary, ...rest.flatMap((dd) => [...dd.childNodes]));
    rest[0].append(details);
    for (const dd of rest.slice(1)) dd.remove();
    return details;
  }

  const folds = rows.map(fold);

  // Open the row that the address links to.
  function openTarget() {
    const row = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const details = folds[rows.indexOf(row)];
    if (details) details.open = true;
  }

  const form = Object.assign(document.createElement("form"), { className: "ledger-filter" });
  const count = Object.assign(document.createElement("output"), { ariaLive: "polite" });

  function show() {
    for (const row of rows) row.hidden = !filters.every(({ accepts }) => accepts(row));
    for (const part of article.querySelectorAll(":scope > section")) {
      const rowsOfPart = rows.filter((row) => part.contains(row));
      part.hidden = rowsOfPart.length > 0 && rowsOfPart.every((row) => row.hidden);
    }
    count.value = `${rows.filter((row) => !row.hidden).length} of ${rows.length} rows`;
  }

  form.append(...filters.map(({ label }) => label), count);
  form.addEventListener("change", show);
  article.querySelector(":scope > section").before(form);
  // Reset the filters, which could hide the row of the link.
  addEventListener("hashchange", () => {
    form.reset();
    show();
    openTarget();
  });
  addEventListener("beforeprint", () => folds.forEach((details) => { details.open = true; }));
  show();
  openTarget();
}
