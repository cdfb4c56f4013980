"""Codes and names that look alike have one folded form."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adhere.lookalikes import find_alike, fold

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@pytest.mark.parametrize(
    "alike",
    [
        ("İzmir", "izmir", "IZMIR", "ızmir", "I\u0307ZMIR"),
        ("Straße", "STRASSE", "strasse", "STRAẞE"),
        ("Zürich", "Zu\u0308rich", "Zurich", "ZÜRICH", "zurich "),
        (
            "L-001",
            "l-001",
            "L\u2011001",
            "L\u2212001",
            "L–001",
            "L—001",
            "L\u00ad-001",
            "L 001",
            "L\u00a0001",
            "L.001",
        ),
        ("L-001", "L_001", "L/001", "L\u200b001", "\u200eL001", "LOO1", "I-0O1", "1-ool", "Ｌ－００１"),
        ("fi-1", "ﬁ-1", "FI1"),
        ("L-001", "Lー001", "L─001", "L➖001", "L~001", "L+001", "L`001", "Lʼ001", "L\u3164001", "L\u2800001"),
        ("L-001", "|-001", "Ł-001", "L-ØØ1", "L-٠٠١", "L-۰۰۱", "L-००१", "L-ОО1", "L-ΟΟ1"),
        ("東京ー2", "東京-2", "東京 2", "東京２"),
        ("Ålesund", "Alesund"),
        ("Tromsø", "Tromso"),
    ],
)
def test_texts_that_look_alike_have_one_form(alike: tuple[str, ...]) -> None:
    assert len({fold(one) for one in alike}) == 1


@pytest.mark.parametrize(
    "different", [("L-001", "L-002"), ("Zürich", "Zug"), ("東京", "京都"), ("日本", "日木"), ("Ω1", "Q1")]
)
def test_texts_that_differ_have_different_forms(different: tuple[str, str]) -> None:
    assert fold(different[0]) != fold(different[1])


@given(TEXTS)
def test_folding_twice_is_folding_once(text: str) -> None:
    assert fold(fold(text)) == fold(text)


def test_every_character_folds_to_what_stays_as_it_is() -> None:
    beyond = 0x20000  # from where on there are only ideographs, tags and characters for private use
    characters = [chr(number) for number in range(beyond) if not 0xD800 <= number < 0xE000]
    changed = [ascii(one) for one in characters if fold(fold(one)) != fold(one)]
    assert changed == []


@given(TEXTS)
def test_spelling_of_the_same_characters_does_not_matter(text: str) -> None:
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        assert fold(unicodedata.normalize(form, text)) == fold(text)


@given(
    st.text(st.characters(categories=["L", "N"]), max_size=20), st.sampled_from(" -\u2010\u2013\u00a0\u200b\u00ad_./")
)
def test_case_and_separators_do_not_matter(text: str, separator: str) -> None:
    assert fold(separator.join(text)) == fold(text)
    assert fold(text.casefold()) == fold(text)


@given(st.text(st.characters(max_codepoint=127), max_size=20))
def test_plain_text_folds_as_any_other(text: str) -> None:
    """There is a shorter way for ASCII, which must lead to the same form."""
    assert fold(f"{text}é") == f"{fold(text)}e"


def test_a_name_is_found_among_those_it_looks_like() -> None:
    assert find_alike("edinburgh", ["Leeds", "Edinburgh"]) == "Edinburgh"
    assert find_alike("Edinburgh", ["Edinburgh", "Leeds"]) is None
    assert find_alike("York", []) is None
