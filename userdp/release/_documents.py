"""Documents: the public JSON of releases, read back and checked.

An error message names a document by its position in the list. It quotes nothing of it, because it
may be a wrong file with protected data.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any, NoReturn

from userdp import _checks as check
from userdp.release._budgets import LIMITS, MAX_RELEASES
from userdp.release._means_results import PrivateMeans
from userdp.release._protected import COUNTS_PROTECTED, ProtectedCountsMean
from userdp.release._results import PrivateMean
from userdp.release._vectors import COUNTS_AND_BALL_PUBLIC, ReleaseInBall
from userdp.release._wording import COUNTS_PUBLIC, NOTHING, json_schema

Document = str | PathLike[str] | Mapping[str, Any]

LARGEST_BUDGET = LIMITS["rho"][1]

PRIVACY_UNITS = {
    PrivateMean.kind: (COUNTS_PUBLIC, NOTHING),
    PrivateMeans.kind: (COUNTS_PUBLIC, NOTHING),
    ReleaseInBall.kind: (COUNTS_AND_BALL_PUBLIC, NOTHING),
    ProtectedCountsMean.kind: (COUNTS_PROTECTED,),
}
"""Valid values of `privacy_unit` by kind. All but the last have the same relation."""


def read_documents(documents: Iterable[Document]) -> list[dict[str, Any]]:
    """Return the parsed documents; raise unless each follows its schema and states a budget."""
    if isinstance(documents, str | bytes | PathLike | Mapping) or not isinstance(
        documents, Iterable
    ):
        check.refuse_kind("documents", "a list of outputs of `public_json`", documents)
    unread = list(islice(documents, MAX_RELEASES + 1))
    if not 1 <= len(unread) <= MAX_RELEASES:
        got = "none" if not unread else "more"
        check.refuse("documents", f"be 1 to {MAX_RELEASES:,} documents", got)
    return [_read(f"documents[{index}]", document) for index, document in enumerate(unread)]


def _read(where: str, document: Document) -> dict[str, Any]:
    """Return a parsed document; raise unless it follows its schema and states a budget."""
    content = _parse(where, document)
    kind = str(content.get("kind"))
    schema = _schemas().get(kind)
    if schema is None or kind not in PRIVACY_UNITS:
        _refuse(where, "of an unknown kind")
    if not {*schema["required"]} <= {*content} <= {*schema["properties"]}:
        _refuse(where, "whose entries are not those of its kind in `json_schema`")
    stated = [content[currency] for currency in ("eps", "rho") if content[currency] is not None]
    if not stated:
        _refuse(where, "which states no budget, because rows were to be dropped")
    if len(stated) > 1 or not _is_budget(stated[0]):
        _refuse(where, "whose budget is not one number from 0 to 1000, `eps` or `rho`")
    if content["privacy_unit"] not in PRIVACY_UNITS[kind]:
        _refuse(where, "whose neighbouring relation (`privacy_unit`) is unknown")
    return content


def _schemas() -> dict[str, Any]:
    """Return the schema of each kind of document."""
    return {schema["properties"]["kind"]["const"]: schema for schema in json_schema()["oneOf"]}


def _is_budget(number: Any) -> bool:
    return type(number) in (int, float) and bool(0 <= number <= LARGEST_BUDGET)


def _parse(where: str, document: Document) -> dict[str, Any]:
    """Return the JSON object in a string, a file or a dict."""
    if not isinstance(document, str | PathLike | Mapping):
        got = f"{where} {check.kind_of(document)}"
        raise TypeError(f"`documents` must hold strings, paths or dicts, got {got}.")
    try:
        if isinstance(document, Mapping):
            text = json.dumps(dict(document))
        elif isinstance(document, str) and document.lstrip().startswith("{"):
            text = document
        else:
            text = Path(document).read_text("utf-8")
        content = json.loads(text)
    except FileNotFoundError:
        raise FileNotFoundError(
            f"`documents` must be files on this machine, got {where}."
        ) from None
    except (OSError, TypeError, ValueError):
        content = None
    if not isinstance(content, dict):
        _refuse(where, "which is not a JSON object")
    return content


def _refuse(where: str, what: str) -> NoReturn:
    check.refuse("documents", "hold outputs of `public_json`", f"{where}, {what}")


def refuse_equal(published: list[dict[str, Any]]) -> None:
    """Raise if two documents are equal."""
    first_index: dict[str, int] = {}
    for index, content in enumerate(published):
        before = first_index.setdefault(json.dumps(content, sort_keys=True), index)
        if before != index:
            check.refuse(
                "documents",
                "differ, because publishing one release twice spends its budget once (remove one, "
                "or pass allow_duplicates=True if these are two releases)",
                f"documents[{before}] and documents[{index}], which are equal",
            )


def common_privacy_unit(published: list[dict[str, Any]], counts_public: bool) -> str:
    """Return the neighbouring relation for which the budgets add up; raise if they have two."""
    protected = {content["kind"] == ProtectedCountsMean.kind for content in published}
    if len(protected) > 1 and not counts_public:
        check.refuse(
            "documents",
            "have one neighbouring relation: the counts public in all, or protected in all (the "
            "budgets of a mixture add up, but protect only the values, with the counts public: "
            "counts_public=True states that)",
            "both",
        )
    return COUNTS_PROTECTED if protected == {True} and not counts_public else COUNTS_PUBLIC
