// Filters above the ledger: by verdict, by who claims it, and by how it is known; and rows that open on a click. Without scripts all is shown. No module: those do not run from a disk.
{
  const article = document.querySelector(".bd-article > section");
  const rows = [...article.querySelectorAll(".cell_output dl")];
  const verdict = (row) => row.querySelector(".verdict").textContent;
  const source = (row) => (row.closest("section").id === "beyond-the-paper" ? "this book" : "the paper");
  const known = (row) => row.querySelector(".known")?.textContent ?? "not examined";

  function choice(name, value) {
    const values = [...new Set(rows.map(value))];
    const select = document.createElement("select");
    select.append(...["all", ...values].map((text) => new Option(text)));
    const label = document.createElement("label");
    label.append(`${name} `, select);
    return { label, fits: (row) => select.selectedIndex === 0 || select.value === value(row) };
  }

  const choices = [choice("Verdict", verdict), choice("Claimed by", source), choice("Known by", known)];

  // What follows the statement of a row is folded; its paragraphs stay what they are.
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

  // A link to a row opens it, and print shows all of it.
  function open() {
    const row = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const details = folds[rows.indexOf(row)];
    if (details) details.open = true;
  }

  const form = Object.assign(document.createElement("form"), { className: "ledger-filter" });
  const found = Object.assign(document.createElement("output"), { ariaLive: "polite" });

  function show() {
    for (const row of rows) row.hidden = !choices.every(({ fits }) => fits(row));
    for (const part of article.querySelectorAll(":scope > section")) {
      const own = rows.filter((row) => part.contains(row));
      part.hidden = own.length > 0 && own.every((row) => row.hidden);
    }
    found.value = `${rows.filter((row) => !row.hidden).length} of ${rows.length} rows`;
  }

  form.append(...choices.map(({ label }) => label), found);
  form.addEventListener("change", show);
  article.querySelector(":scope > section").before(form);
  // Whoever comes for a row sees it.
  addEventListener("hashchange", () => {
    form.reset();
    show();
    open();
  });
  addEventListener("beforeprint", () => folds.forEach((details) => { details.open = true; }));
  show();
  open();
}
