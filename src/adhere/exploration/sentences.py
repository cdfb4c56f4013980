"""Sentences on which protocols are misled and why, and on what each protocol believes, for every setting."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from adhere.errors import joined
from adhere.exploration.presets import ALWAYS, COMPLIERS, DEFIERS, NEVER, TREATMENT, Group
from adhere.exploration.protocol_beliefs import TINY, Belief, Truth, credited, sign_of, truth_of, wrong_shares
from adhere.populations.examples import ARMS


def why_fooled(groups: Sequence[Group], protocol: str) -> str:
    """Return a clause on which patients make a protocol prefer the wrong arm, and why."""
    truth = sign_of(truth_of(groups).effect)
    if not is_misled(_only(groups, COMPLIERS, DEFIERS), protocol, truth):
        return _why_selected(groups, protocol, truth)
    if protocol == "comply":
        return "it never counts the defiers, and they decide which arm is better to recommend"
    return (
        "defiers do the opposite of what they are told, so for them and compliers together the arm that is better to "
        "take is worse to recommend"
    )


def is_misled(groups: Sequence[Group], protocol: str, truth: int) -> bool:
    """Return whether a protocol that sees only these patients prefers an arm that is not better to recommend."""
    control, treatment = credited(groups, protocol)
    return control is not None and treatment is not None and sign_of(treatment - control) not in (0, truth)


def _why_selected(groups: Sequence[Group], protocol: str, truth: int) -> str:
    """Explain how always-takers or never-takers mislead a protocol.

    If the protocol is not misled without one of these types, name that type; otherwise name both.
    """
    present = [name for name in (ALWAYS, NEVER) if _group(groups, name).share > 0]
    alone = [name for name in present if not is_misled(_without(groups, name), protocol, truth)]
    if not alone:
        return " and ".join(_fares(groups, protocol, name) for name in present)
    shift = {name: _shift(groups, protocol, name) for name in alone}
    return _fares(groups, protocol, max(alone, key=lambda name: shift[name]))


def _shift(groups: Sequence[Group], protocol: str, name: str) -> float:
    """Return how much a protocol's difference between the arms changes if a compliance type is left out."""
    with_it, without = (credited(some, protocol) for some in (groups, _without(groups, name)))
    if None in without:
        return float("inf")
    return abs((with_it[1] or 0.0) - (with_it[0] or 0.0) - (without[1] or 0.0) + (without[0] or 0.0))


def _fares(groups: Sequence[Group], protocol: str, name: str) -> str:
    """Compare people who always take one arm with the others who are credited to it, in words."""
    one = _group(groups, name)
    arm = one.takes[TREATMENT]
    own, others = one.rewards[arm], credited(_without(groups, name), protocol)[arm]
    who = f"{name}, who take the {ARMS[arm]} whatever they are told,"
    if others is None:
        return f"only {name} are credited to the {ARMS[arm]}, and they fare otherwise than those told to take it"
    return f"{who} fare {'better' if own > others else 'worse'} ({number(own)}) than others on it ({number(others)})"


def number(value: float) -> str:
    """Format a mean reward or a difference with at most three decimals.

    >>> number(0.5), number(0.58333), number(-0.0001)
    ('0.5', '0.583', '0')
    """
    text = f"{value:.3f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def percent(share: float) -> str:
    """Format a share as a percentage without decimals, unless it would wrongly round to 0% or 100%.

    >>> percent(0.5), percent(0.004), percent(0.9996)
    ('50%', '0.4%', '99.96%')
    """
    for digits in (0, 1, 2):
        text = f"{100 * share:.{digits}f}"
        if share in (0.0, 1.0) or 0.0 < float(text) < 100.0:
            break
    return f"{text}%"


def _group(groups: Sequence[Group], name: str) -> Group:
    return next(group for group in groups if group.name == name)


def _only(groups: Sequence[Group], *names: str) -> list[Group]:
    return [group for group in groups if group.name in names]


def _without(groups: Sequence[Group], name: str) -> list[Group]:
    return [group for group in groups if group.name != name]


_FEW = 0.2  # share of compliers and defiers; with fewer, the arms differ little for Chosen
_LITTLE = 0.01  # smallest difference of rewards that matters
_MUCH_MORE = 1.25


def with_sentences(groups: Sequence[Group], truth: Truth, beliefs: Sequence[Belief]) -> list[Belief]:
    """Return the beliefs, each with a sentence on what it means."""
    return [replace(one, sentence=f"{_about(groups, truth, one)}.") for one in beliefs]


def headline(groups: Sequence[Group], truth: Truth, beliefs: Sequence[Belief]) -> str:
    """Return a sentence on which protocols are misled, and why."""
    if sign_of(truth.effect) == 0:
        return _no_effect(groups, beliefs)
    best = ARMS[truth.effect > 0]
    gain = f"recommending the {best} is better by {number(abs(truth.effect))} per patient"
    misled = [one for one in beliefs if one.verdict in ("fooled", "depends")]
    others = [_aside(one) for one in beliefs if one.verdict in ("undecided", "uninformed")]
    if not misled:
        seen = [one.protocol.capitalize() for one in beliefs if one.verdict == "right"]
        all_see = f"{joined(seen)} {'all see' if len(seen) == 3 else 'see' if len(seen) > 1 else 'sees'} it"
        return _capital(f"nobody is fooled: {gain}, and {all_see}{_ease(groups, truth, beliefs)}{_listed(others)}.")
    other = ARMS[truth.effect < 0]
    whys = {one.protocol.capitalize(): why_fooled(groups, one.protocol) for one in misled if one.verdict == "fooled"}
    at_times = [_when(groups, one) for one in misled if one.verdict == "depends"]
    if not whys:
        return _capital(f"Actual is fooled at times: {gain}, but {at_times[0]}{_listed(others)}.")
    verb, wrong = ("are", "prefer") if len(whys) > 1 else ("is", "prefers")
    start = f"{joined(list(whys))} {verb} fooled and {wrong} the {other}, although {gain}"
    return f"{start}, {_because(whys)}{_listed([*at_times, *others])}."


def _because(whys: Mapping[str, str]) -> str:
    """Return the reason that the protocols share, or the reason for each protocol."""
    if len(set(whys.values())) == 1:
        return f"because {next(iter(whys.values()))}"
    return ", ".join(f"{name} because {why}" for name, why in whys.items())


def _no_effect(groups: Sequence[Group], beliefs: Sequence[Belief]) -> str:
    """Return the headline for the case that both arms are equally good to recommend."""
    following = [group for group in groups if group.name in (COMPLIERS, DEFIERS) and group.share > 0]
    if sum(group.share for group in following) < TINY:
        why = "next to nobody takes another arm for being told to"
    elif not (matters := [group for group in following if abs(group.treatment - group.control) >= _LITTLE]):
        why = f"it makes next to no difference to {joined([group.name for group in following])} which arm they take"
    elif all(group.share * abs(group.treatment - group.control) >= TINY for group in matters):
        why = "what it does for compliers, it undoes for defiers"
    else:
        why = f"those to whom it matters ({joined([group.name for group in matters])}) are very few"
    start = f"it does not matter which arm is recommended, because {why}"
    believers = [one for one in beliefs if one.verdict == "fooled"]
    if not believers:
        return _capital(f"nobody is fooled: {start}.")
    seen = [f"{one.protocol.capitalize()} sees the {_preferred(one)} ahead by {_gap(one)}" for one in believers]
    return _capital(f"{start}; yet {joined(seen)}, which costs nothing here but is not true.")


def _about(groups: Sequence[Group], truth: Truth, one: Belief) -> str:
    """Describe what a protocol believes, and whether it is right."""
    if one.verdict == "uninformed":
        return _aside(one)
    if one.verdict == "depends":
        return _capital(_when(groups, one))
    sees = (
        f"sees the {_preferred(one)} ahead by {_gap(one)}" if sign_of(one.difference or 0.0) else "sees no difference"
    )
    if one.verdict == "fooled" and sign_of(truth.effect):
        return f"Fooled: {sees}, because {why_fooled(groups, one.protocol)}"
    if one.verdict == "fooled":
        return f"Fooled: {sees}, where there is no difference"
    if one.verdict == "undecided":
        return f"Undecided: {sees}, though there is one"
    return f"Right: {sees}"


def _when(groups: Sequence[Group], one: Belief) -> str:
    """Describe the allocations under which a protocol's belief is not right."""
    wrong = wrong_shares(groups, one.protocol)
    low, high = min(wrong), max(wrong)
    if len(wrong) < round((high - low) * 100) + 1:
        when = "with some shares of recommendations and not with others"
    elif high > 0.985:
        when = f"once {percent(low)} or more are told to take the {ARMS[1]}"
    elif low < 0.015:
        when = f"while at most {percent(high)} are told to take the {ARMS[1]}"
    else:
        when = f"while {percent(low)} to {percent(high)} are told to take the {ARMS[1]}"
    return f"{one.protocol.capitalize()} does not see it {when}"


def _aside(one: Belief) -> str:
    """Describe a protocol that sees no difference, or that credits nobody to an arm."""
    name = one.protocol.capitalize()
    if one.verdict == "undecided":
        return f"{name} sees no difference"
    missing = [arm for arm, mean in zip(ARMS, one.means, strict=True) if mean is None]
    arms = "either arm" if len(missing) == 2 else f"the {missing[0]}"
    return f"{name} credits nobody to {arms} and learns nothing of it"


def _ease(groups: Sequence[Group], truth: Truth, beliefs: Sequence[Belief]) -> str:
    """Return notes if the difference is hard for Chosen to see, or another protocol sees a larger difference."""
    right = [one for one in beliefs if one.verdict == "right" and one.difference is not None]
    widest = max(right, key=lambda one: abs(one.difference or 0.0))
    following = sum(group.share for group in groups if group.name in (COMPLIERS, DEFIERS))
    notes = []
    if following < _FEW:
        notes.append(f"only {percent(following)} take another arm for being told to, so Chosen sees little")
    if widest.protocol != "chosen" and abs(widest.difference or 0.0) > _MUCH_MORE * abs(truth.effect):
        notes.append(f"{widest.protocol.capitalize()} sees a wider difference ({_gap(widest)})")
    return _listed(notes)


def _preferred(one: Belief) -> str:
    return ARMS[(one.difference or 0.0) > 0]


def _gap(one: Belief) -> str:
    return number(abs(one.difference or 0.0))


def _listed(asides: Sequence[str]) -> str:
    return "".join(f"; {aside}" for aside in asides)


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
