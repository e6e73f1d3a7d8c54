"""The text to print below a released number: its wording for each setting, and its rounding."""

import re

import jsonschema
import numpy as np
import pytest

import userdp as ud
from userdp import beyond, release
from userdp.release import release_mean_in_ball
from userdp.release._wording import at_most, in_words

BOUNDS = {"lower": 0, "upper": 65}
USERS = np.repeat(np.arange(60), 4)
VALUES = np.full(240, 26.0)


def test_the_sentence_states_mean_error_interval_and_budget(opendp):
    result = release.private_mean(USERS, VALUES, **BOUNDS, budget=1, objective="bound")
    # All users have 4 records, so no sum is clipped; one user moves the mean by at most 65/60.
    assert result.worst_case_error == pytest.approx(65 / 60)
    low, high = result.interval()
    assert 22 < low < 26 < high < 30
    assert result.public_sentence("km/h") == (
        "The published mean of 240 records of 60 users is 26.0 km/h. On average over the noise, it "
        "is off by at most 1.1 km/h, whatever the records are; with a probability of 95 %, the "
        f"interval from {low - 0.05:.1f} to {high + 0.05:.1f} km/h contains the exact mean. Noise "
        "protects each of the users: had the values of the records of any one of them been "
        "entirely different, no outcome would have been more than 2.72 times as likely (user-level "
        "differential privacy, eps = 1)."
    )


WORDS = {
    "no unit": ({}, r"off by at most 1\.1, whatever"),
    "clamped": (
        {"outside": "clamp"},
        r"\(values beyond the bounds are replaced by the nearer bound\)\.",
    ),
    "missing values": (
        {"missing": "centre"},
        r"\(missing values are replaced by a number fixed in",
    ),
    "factor below 2": ({"budget": 0.5}, r"more than 1\.65 times as likely .* eps = 0\.5\)\.$"),
    "largest factor written as a number": ({"budget": 10}, r"more than 22,100 times as likely"),
    "factor written as e^eps": ({"budget": 10.5}, r"more than e\^10\.5 times as likely"),
    "Gaussian noise": (
        {"budget": beyond.GaussianNoise.zcdp(0.125)},
        r"of each of the users \(.*, rho = 0\.125 in zCDP\)\.$",
    ),
    "release independent of the data": (
        {"total_width": 0},
        r"would be the same whatever the records were\.$",
    ),
}


@pytest.mark.filterwarnings("ignore:.*protects little")
@pytest.mark.parametrize(("how", "words"), WORDS.values(), ids=WORDS)
def test_the_sentence_states_the_settings(how, words, opendp):
    result = release.private_mean(USERS, VALUES, **BOUNDS | {"budget": 1} | how)
    assert re.search(words, result.public_sentence())


@pytest.mark.filterwarnings("ignore:.eps. is not stated")
def test_the_sentence_states_no_privacy_guarantee_if_the_rule_is_to_drop_rows(opendp):
    result = release.private_mean(USERS, VALUES, **BOUNDS, budget=1, missing="drop", outside="drop")
    text = result.public_sentence()
    assert "left out; rows without a value or a user were left out)" in text
    assert "The privacy budget is not stated" in text
    assert not re.search("protects|likely", text)


def test_the_sentence_names_no_protected_count(opendp):
    result = release.private_mean_protected_counts(USERS, VALUES, **BOUNDS, eps=1, cap=2)
    text = result.public_sentence("km/h")
    assert "in which each of the users is weighted by their number of records, up to 2," in text
    assert "had the values and the number of the records of any one of them been" in text
    assert not re.search("240|60", text)
    for how, words in (WORDS["clamped"], WORDS["missing values"]):
        with_rule = release.private_mean_protected_counts(
            USERS, VALUES, **BOUNDS, eps=1, cap=2, **how
        )
        assert re.search(words, with_rule.public_sentence())
        assert not re.search(words, text)


def test_for_vectors_the_sentence_bounds_the_length_of_the_error(opendp):
    users = ud.Contributions([4] * 60, 65)
    result = release_mean_in_ball(np.ones((60, 2)), users, beyond.GaussianNoise.zcdp(0.5))
    assert f"off by at most {at_most(result.worst_case_error)} m/s" in result.public_sentence("m/s")


def test_digits_depend_on_the_error_and_are_rounded_to_the_safe_side():
    assert in_words(49.87654, (44.12, 55.61), 1.641) == ["49.9", "44.1", "55.7"]
    assert in_words(12345.6, (11111.0, 14000.1), 230) == ["12,350", "11,110", "14,010"]
    assert in_words(2.5, (2.5, 2.5), 0) == ["2.5", "2.5", "2.5"]
    assert [at_most(error) for error in (1.641, 1.6, 0.00321, 230.1, 0)] == [
        *("1.7", "1.6", "0.0033", "240", "0")
    ]
    rng = np.random.default_rng(76)
    for _ in range(500):
        error = 10 ** rng.uniform(-12, 12)
        low, high = sorted(error * rng.normal(0, 9, 2))
        _, below, above = (float(text.replace(",", "")) for text in in_words(0, (low, high), error))
        fuzz = 1e-9 * error
        assert low - error / 10 - fuzz <= below <= low
        assert high <= above <= high + error / 10 + fuzz
        assert error <= float(at_most(error).replace(",", "")) <= 1.1 * error + fuzz


def test_users_and_records_are_named_as_the_reader_chooses(opendp):
    result = release.private_mean(USERS, VALUES, **BOUNDS, budget=1)
    text = result.public_sentence("min", users="patients", records="visits")
    assert text.startswith("The published mean of 240 visits of 60 patients is 26.0 min. ")
    assert "whatever the visits are" in text
    assert "Noise protects each of the patients: had the values of the visits of any one" in text
    protected = release.private_mean_protected_counts(USERS, VALUES, **BOUNDS, eps=1, cap=2)
    text = protected.public_sentence("min", users="patients", records="visits")
    assert "each of the patients is weighted by their number of visits, up to 2, is" in text
    assert "had the values and the number of the visits of any one of them been entirely" in text


def test_sentence_repr_and_json_say_what_the_data_are(opendp):
    public = {**BOUNDS, "of": "visits in week 12"}
    plain = release.private_mean(USERS, VALUES, **BOUNDS, budget=1)
    named = release.private_mean(USERS, VALUES, **public, budget=1)
    start = "The published mean of 240 records of 60 users"
    assert named.public_sentence() == plain.public_sentence().replace(
        start, f"{start} (visits in week 12)"
    )
    assert named.public() == plain.public() | {"of": "visits in week 12"}
    assert "of" not in plain.public()
    plain_protected = release.private_mean_protected_counts(USERS, VALUES, **BOUNDS, eps=1, cap=2)
    protected = release.private_mean_protected_counts(USERS, VALUES, **public, eps=1, cap=2)
    assert protected.public_sentence() == plain_protected.public_sentence().replace(
        "The published mean in", "The published mean (visits in week 12) in", 1
    )
    assert protected.public() == plain_protected.public() | {
        "of": f"visits in week 12: {plain_protected.public()['of']}"
    }
    for one, other in ((plain, named), (plain_protected, protected)):
        jsonschema.validate(other.public(), release.json_schema())
        lines = repr(other).split("\n")
        assert lines[0].split("  ")[0] == "data"
        assert lines[0].endswith("visits in week 12")
        assert lines[1:] == repr(one).split("\n")
    assert release.account([named.public_json(), plain.public_json()]).eps == 2


def test_the_sentence_says_if_all_users_have_equal_weight(opendp):
    one_value_each = release.private_mean(
        np.arange(60), VALUES[:60], **BOUNDS, budget=1, outside="clamp"
    )
    text = one_value_each.public_sentence(users="patients")
    assert text.startswith(
        "The published mean of one value of each of 60 patients is 26.0 (values beyond"
    )
    assert "contains the exact mean computed in this way." in text
    capped_at_one = release.private_mean_protected_counts(USERS, VALUES, **BOUNDS, eps=1, cap=1)
    assert capped_at_one.public_sentence(users="patients", records="visits").startswith(
        "The published mean in which all patients have equal weight, each with the average of "
        "their own visits, "
    )


def test_the_sentence_is_in_the_singular_for_one_user(opendp):
    """Only with the default words: it does not know the singular of other words."""
    starts = {
        1: "The published mean of one value of one user is",
        3: "The published mean of 3 records of one user is",
    }
    for n, start in starts.items():
        result = release.private_mean(["a"] * n, VALUES[:n], **BOUNDS, budget=1)
        text = result.public_sentence()
        assert text.startswith(start)
        assert f"whatever the {'record is' if n == 1 else 'records are'}; with" in text
        assert "the one user: had the values of the records been entirely different, no" in text
    assert result.public_sentence(users="patients").startswith(
        "The published mean of 3 records of 1 patients"
    )


@pytest.mark.parametrize("name", ["unit", "users", "records"])
def test_words_must_be_text(name, opendp):
    result = release.private_mean(USERS, VALUES, **BOUNDS, budget=1)
    with pytest.raises(TypeError, match=f"`{name}` must be text, got {name} of type int"):
        result.public_sentence(**{name: 3})
