"""The text form of policies: `name[(argument, key=value, …)][/protocol]`.

=========  ==================================================================================
policy     name, then arguments in parentheses, then / and a protocol
argument   a number, true or false, a word, a policy, or a list [policy, …]; by place or by key=;
           an arm by its name (in quotation marks if it has commas or brackets) or, without quotation
           marks and where no name is a number, by its number from 0
protocol   chosen, actual, comply, or a table such as credit[0 1; - 1]: rows chosen, columns
           actual, entries the arm to credit or - for none
=========  ==================================================================================

Spaces and case do not matter, except in names of arms. `str(policy)` writes the canonical form, which leaves out
defaults.
"""

import re
import string
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias, TypeVar

from adhere.errors import InputError, short
from adhere.policies.base.learner import ComplianceAwareLearner, Learner
from adhere.policies.base.policy import MAX_DEPTH, Policy
from adhere.policies.base.registry import ARM, POLICY, WORD, from_json, kind_of, lookup, make, registry
from adhere.protocols import as_protocol

_TOKEN = re.compile(
    r"\s*(?:(?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|[+-]?(?:inf|nan)(?![a-z0-9_-]))"
    r"|(?P<name>[a-z_][a-z0-9_]*(?:-[a-z0-9_]+)*)|(?P<mark>[()\[\],;=/-])"
    r"|(?P<quoted>\"[^\"]*\"|'[^']*')|(?P<other>\S))"  # other: part of an arm's name, or a mistake
)
_CAPITALS = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
_MAX_ARM_DIGITS = 6
_ARM_NUMBER = re.compile(r"0|[1-9][0-9]{0,5}")
Item = TypeVar("Item")


class _Token(NamedTuple):
    kind: str
    text: str
    place: int


def parse_policy(text: str) -> Policy:
    """Return the policy that a text describes.

    Parameters
    ----------
    text : str
        Name of the policy, arguments in parentheses, and a protocol after a slash. Spaces and case do not matter.

    Returns
    -------
    Policy
        Policy, whose ``str`` is the canonical text.

    See Also
    --------
    import_policies : Import policies of your own, so that their names can be used.
    Policy : The base class of all policies.

    Examples
    --------
    >>> parse_policy(" Hierarchical( Thompson, recycle = TRUE )")
    HierarchicalBandit(base=Thompson(...), ..., recycle=True)

    """
    if not isinstance(text, str):
        raise InputError("policy", text, "a policy or its text, e.g. 'thompson/actual'")
    return _Parser(text).whole()


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = self._tokenise(text.translate(_CAPITALS))
        self._next = 0
        self._depth = 0

    def _tokenise(self, text: str) -> list[_Token]:
        tokens = [
            _Token(kind, match.group(kind), match.start(kind))
            for match in _TOKEN.finditer(text)
            if (kind := match.lastgroup)
        ]
        return [*tokens, _Token("end", "", len(text.rstrip()))]

    def _error(self, expected: str, place: int) -> InputError:
        if any(token.place == place and token.kind in ("other", "quoted") for token in self._tokens):
            expected = "a letter, a digit or one of ( ) [ ] , ; = / -"
        expected = f"{expected} at character {place + 1}"
        return InputError("policy", self._text, expected, f"policy {short(self._text)}: expected {expected}")

    @property
    def _here(self) -> _Token:
        return self._tokens[self._next]

    def _take(self) -> _Token:
        token = self._here
        self._next += 1
        return token

    def _at(self, text: str) -> bool:
        return self._here.text == text and self._here.kind == "mark"

    def _skip(self, text: str, otherwise: str = "") -> None:
        if not self._at(text):
            raise self._error(f"'{otherwise or text}'", self._here.place)
        self._next += 1

    def whole(self) -> Policy:
        policy = self._policy()
        if self._here.kind != "end":
            raise self._error("the end of the policy", self._here.place)
        return policy

    def _policy(self) -> Policy:
        if self._here.kind != "name":
            raise self._error("the name of a policy", self._here.place)
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self._error(f"at most {MAX_DEPTH} policies inside each other", self._here.place)
        name = self._take().text
        lookup(name)  # before its arguments: the first mistake is reported
        arguments: list[object] = []
        options: dict[str, object] = {}
        if self._at("("):
            self._list("(", lambda: self._argument(name, arguments, options), ")")
        policy = make(name, arguments, options)
        self._depth -= 1
        return self._under_protocol(policy) if self._at("/") else policy

    def _argument(self, policy: str, arguments: list[object], options: dict[str, object]) -> None:
        is_key = self._here.kind == "name" and self._tokens[self._next + 1].text == "="
        if not is_key and options:
            raise self._error("key=value (arguments by place come first)", self._here.place)
        if not is_key:
            arguments.append(self._argument_of(kind_of(policy, len(arguments))))
            return
        key = self._take()
        self._skip("=")
        if key.text in options:
            raise self._error(f"{key.text} only once", key.place)
        options[key.text] = self._argument_of(kind_of(policy, key.text))

    def _argument_of(self, kind: str) -> object:
        """Return the value of an argument.

        Unless a policy is expected, an unknown word is returned as text, for the check of the option.
        """
        token = self._here
        if kind == ARM:
            return self._arm()
        if token.kind == "name" and kind == WORD:
            return self._take().text
        is_value = kind != POLICY and token.text not in registry and token.text not in ("true", "false")
        return self._take().text if token.kind == "name" and is_value else self._value()

    def _arm(self) -> str | int:
        """Read an arm: a quoted name, a whole number, or all text up to the next comma or closing bracket."""
        first = self._here
        if first.kind == "quoted":
            self._take()
            return self._text[first.place + 1 : first.place + len(first.text) - 1]
        while not (self._at(",") or self._at(")") or self._here.kind == "end"):
            if self._at("("):
                raise self._error("')', or the arm in quotation marks", self._here.place)
            self._take()
        if self._here is first:
            raise self._error("the name of an arm", first.place)
        name = self._text[first.place : self._here.place].strip()
        return int(name) if _ARM_NUMBER.fullmatch(name) else name

    def _value(self) -> object:
        token = self._here
        if token.kind == "number":
            return float(self._take().text)
        if token.text in ("true", "false"):
            return self._take().text == "true"
        return self._list("[", self._policy, "]") if self._at("[") else self._policy()

    def _list(self, opening: str, item: Callable[[], Item], closing: str) -> list[Item]:
        items = []
        self._skip(opening)
        while not self._at(closing):
            items.append(item())
            if not self._at(closing):
                self._skip(",", closing if self._here.kind == "end" else f",' or '{closing}")
        self._skip(closing)
        return items

    def _under_protocol(self, policy: Policy) -> Policy:
        self._skip("/")
        name = self._take().text
        protocol = as_protocol(self._credit_table() if name == "credit" else name)
        if isinstance(policy, ComplianceAwareLearner):
            expected = f"no protocol after {policy.name}: it is told both arms and credits what it likes"
            raise InputError("policy", self._text, expected)
        if policy.kind == "guard":
            expected = f"the protocol of a learner inside {policy.name}, e.g. {policy.name}(thompson/{protocol})"
            raise InputError("policy", self._text, expected)
        if not isinstance(policy, Learner):
            expected = f"a learner before /{protocol}: the hybrid {policy.name} sets its experts' protocols itself"
            raise InputError("policy", self._text, expected)
        return policy.under(protocol)

    def _credit_table(self) -> list[list[int | None]]:
        self._skip("[")
        rows: list[list[int | None]] = [[]]
        while not self._at("]"):
            token = self._take()
            if token.text == ";":
                rows.append([])
            elif token.text == "-":
                rows[-1].append(None)
            elif token.kind == "number" and token.text.isdigit() and len(token.text) < _MAX_ARM_DIGITS:
                rows[-1].append(int(token.text))
            else:
                raise self._error("an arm number, -, ; or ]", token.place)
        self._skip("]")
        return rows


PolicyLike: TypeAlias = Policy | str | Mapping[str, Any]  # a policy, its text or its JSON form


def as_policy(value: object) -> Policy:
    """Return a policy given as itself, as text or in its JSON form."""
    if isinstance(value, Policy):
        return value
    return parse_policy(value) if isinstance(value, str) else from_json(value)
