// Filters above the ledger: by verdict, by who claims it, and by whether Coq has checked it. Without scripts all rows are shown. No module: those do not run from a disk.
{
  const article = document.querySelector(".bd-article > section");
  const rows = [...article.querySelectorAll(".cell_output dl")];
  const verdict = (row) => row.querySelector(".verdict").textContent;
  const source = (row) => (row.closest("section").id === "beyond-the-paper" ? "this book" : "the paper");
  const machine = (row) => (row.querySelector("a[href*='#machine-']") ? "yes" : "no");

  function choice(name, value) {
    const values = [...new Set(rows.map(value))];
    const select = document.createElement("select");
    select.append(...["all", ...values].map((text) => new Option(text)));
    const label = document.createElement("label");
    label.append(`${name} `, select);
    return { label, fits: (row) => select.selectedIndex === 0 || select.value === value(row) };
  }

  const choices = [choice("Verdict", verdict), choice("Claimed by", source), choice("In Coq", machine)];
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
  });
  show();
}
