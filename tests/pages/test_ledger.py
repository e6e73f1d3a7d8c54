"""The ledger's filters, which show the rows that are asked for."""

from browser import on_the_built_pages
from contents import ledger
from playwright.sync_api import expect

pytestmark = on_the_built_pages


def test_rows_are_chosen_by_verdict_and_by_whose_claims_they_are(page, book, errors):
    page.goto(f"{book}/book/claims.html")
    rows, count = page.locator(".cell_output dl"), page.locator(".ledger-filter output")
    expect(rows).to_have_count(len(ledger()))
    wrong = [row["id"] for row in ledger() if row["verdict"] == "wrong as printed"]
    page.get_by_label("Verdict").select_option("wrong as printed")
    expect(rows.filter(visible=True)).to_have_count(len(wrong))
    expect(count).to_have_text(f"{len(wrong)} of {len(ledger())} rows")
    page.get_by_label("Claimed by").select_option("this book")
    expect(rows.filter(visible=True)).to_have_count(0)
    page.evaluate(f"location.hash = 'claim-{wrong[0]}'")
    expect(rows.filter(visible=True)).to_have_count(len(ledger()))
    assert errors == []
