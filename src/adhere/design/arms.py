"""The arms of a trial: checks of their names, and of what a patient took, which may be none of the arms."""

from collections.abc import Sequence

from adhere.checks import MAX_TEXT_LENGTH, check_text
from adhere.errors import InputError, nearest
from adhere.protocols import TOOK_NOTHING as TOOK_NOTHING
from adhere.protocols import TOOK_OTHER as TOOK_OTHER

MAX_ARMS = 100


def check_arm_names(arms: object) -> tuple[str, ...]:
    """Check the names of at least two arms, all different, and return them."""
    if isinstance(arms, str) or not isinstance(arms, Sequence) or not 2 <= len(arms) <= MAX_ARMS:
        raise InputError("arms", arms, f"the names of at least two arms, at most {MAX_ARMS}")
    for arm in arms:
        if not isinstance(arm, str) or not arm.strip():
            raise InputError("arms", arm, "names in text, none of them empty")
        if list(arms).count(arm) > 1:
            raise InputError("arms", arm, "each name once", f"arms: {arm!r} is listed twice")
    names = tuple(check_text("arms", arm) for arm in arms)
    if len(set(names)) < len(names):
        raise InputError("arms", ", ".join(names), "names that look different")
    return names


def arm_taken(
    arms: Sequence[str], actual: object = None, took_nothing: bool = False, took_other: object = None
) -> int | None:
    """Return what was taken as an integer: an arm's index, TOOK_NOTHING or TOOK_OTHER. Return None if it is not
    reported.

    >>> arm_taken(["walk", "aspirin"], actual="aspirin"), arm_taken(["walk", "aspirin"], took_nothing=True)
    (1, -1)
    """
    given = [name for name, value in (("actual", actual), ("took_other", took_other)) if value is not None]
    given += ["took_nothing"] if took_nothing else []
    if len(given) > 1:
        fields = " and ".join(given)
        raise InputError(fields, "both", "one of them", f"{fields} exclude each other; give one of them")
    if took_nothing:
        return TOOK_NOTHING
    if took_other is not None:
        check_text("took_other", took_other, MAX_TEXT_LENGTH)
        return TOOK_OTHER
    if actual is None:
        return None
    if actual not in arms:
        raise InputError("actual", actual, nearest(str(actual), arms))
    return list(arms).index(str(actual))


def describe_taken(arms: Sequence[str], taken: int) -> str:
    """Return what was taken in words.

    >>> describe_taken(["walk", "aspirin"], -1)
    'took nothing'
    """
    return {TOOK_NOTHING: "took nothing", TOOK_OTHER: "took something else"}.get(taken) or repr(arms[taken])
