"""Check the policies that a user's file declares."""

import ast
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from adhere.compilation.policy_failures import as_python
from adhere.compilation.user_code import Place
from adhere.contract import findings, promises
from adhere.contract.compiled import check_compiled
from adhere.contract.findings import Broken, Finding, PolicyReport
from adhere.errors import InputError
from adhere.policies import Policy, import_policies, parse_policy, registry
from adhere.policies.base.policy import TrialShape

_WITHOUT = {
    findings.PROBABILITIES: "none given; a live trial estimates them by drawing 1000 times",
    findings.HIERARCHY: "not a learner, so it cannot be an expert",
}

# The promises that a policy keeps if it passes each step.
_STEPS: tuple[tuple[tuple[str, ...], Callable[[Policy], str | None]], ...] = (
    (findings.OF_A_GAME, promises.runs),
    ((findings.REPEATABLE,), promises.repeatable),
    ((findings.LATE,), promises.late),
    ((findings.PROBABILITIES,), promises.match_frequencies),
    ((findings.TIES,), promises.favour_no_arm),
    ((findings.HIERARCHY,), promises.works_in_hierarchy),
    ((), promises.runs_long),
)


def check_policies(
    path: str | Path, policy: str | None = None, *, on_compiling: Callable[[str], None] = lambda name: None
) -> list[PolicyReport]:
    """Check the promises of each policy in a file, as Python and compiled with bounds checks.

    Parameters
    ----------
    path : str or Path
        Python file that declares policies.
    policy : str, optional
        Text of one policy. Only this policy is checked, with these parameters. The default is every policy in the
        file.
    on_compiling : callable, optional
        Function that is called with the name of each policy before it is compiled, which takes some seconds.

    Returns
    -------
    list of PolicyReport
        Report for each policy, with the findings.

    See Also
    --------
    import_policies : Import the policies of a file, without checks.
    Learner : The base class of a policy of your own.

    Examples
    --------
    >>> from adhere import InputError, check_policies
    >>> try:
    ...     check_policies("my_policy.py")
    ... except InputError as error:
    ...     print(error)
    my_policy.py does not exist

    """
    module = import_policies(path)
    return [_check(one, module, on_compiling) for one in _declared(module, path, policy)]


def _declared(module: ModuleType, path: str | Path, wanted: str | None) -> list[Policy]:
    classes = {name: cls for name, cls in registry.items() if cls.__module__ == module.__name__}
    if not classes:
        raise InputError("check", str(path), "a file that declares a policy", f"{path} declares no policy (@policy)")
    if wanted is not None:
        policy = parse_policy(wanted)
        if type(policy) not in classes.values():
            known = ", ".join(classes)
            raise InputError("check", wanted, f"one of {known}", f"{path} declares no {policy.name}; it has {known}")
        return [policy]
    return [_made(name, cls, path) for name, cls in classes.items()]


def _made(name: str, cls: type[Policy], path: str | Path) -> Policy:
    try:
        return cls()
    except (TypeError, InputError) as error:
        expected = f"parameters, e.g. adhere policies --check {path} '{name}(…)'"
        raise InputError("check", name, expected, f"{name} cannot be made without {expected} ({error})") from None


def _check(policy: Policy, module: ModuleType, on_compiling: Callable[[str], None]) -> PolicyReport:
    found = {one.promise: one for one in _interpreted(policy, module)}
    if all(one.kept is not False for one in found.values()):
        on_compiling(str(policy))
        found |= {one.promise: one for one in check_compiled(Path(str(module.__file__)), policy)}
    every = (found.get(name, Finding(name, None, "not checked")) for name in findings.PROMISES)
    return PolicyReport(str(policy), tuple(every))


def _interpreted(policy: Policy, module: ModuleType) -> list[Finding]:
    try:
        policy.resolved(2, 1000).assemble(TrialShape(2))
    except InputError as error:
        return [Finding(findings.FUNCTIONS, False, f"{promises.class_place(type(policy))}: {error}")]
    found = [Finding(findings.FUNCTIONS, True)]
    for place, name in places_of_other_randomness(module):
        sentence = f"{place}: {name} is not repeatable; use uniform(rng) or draw_from(…, rng)"
        return [*found, Finding(findings.REPEATABLE, False, sentence)]
    with as_python(module, strict=True):
        for promised, step in _STEPS:
            try:
                note = step(policy)
            except Broken as broken:
                return [*found, Finding(broken.promise, False, broken.sentence)]
            kept = True if note == "" else None
            found += [Finding(name, kept, _WITHOUT.get(name, "") if note is None else note) for name in promised]
    return found


_OTHERS = ("numpy.random", "random", "secrets", "time", "uuid", "os.urandom")


def places_of_other_randomness(module: ModuleType) -> Iterator[tuple[Place, str]]:
    """Yield every line of a function that uses a source of randomness other than `rng`, and that source's name."""
    file = str(module.__file__)
    for function in ast.walk(ast.parse(Path(file).read_bytes())):
        if isinstance(function, ast.FunctionDef):
            for node in ast.walk(function):
                name = _name_of(node, module)
                if name and any(name == other or name.startswith(f"{other}.") for other in _OTHERS):
                    yield Place(file, getattr(node, "lineno", function.lineno)), name


def _name_of(node: ast.AST, module: ModuleType) -> str:
    """Return the full name of a dotted name, resolved by the module's imports."""
    if isinstance(node, ast.Attribute):
        owner = _name_of(node.value, module)
        return f"{owner}.{node.attr}" if owner else ""
    if not isinstance(node, ast.Name):
        return ""
    found: Any = vars(module).get(node.id)
    if isinstance(found, ModuleType):
        return found.__name__
    home = getattr(found, "__module__", None) or type(getattr(found, "__self__", None)).__module__
    return f"{home}.{node.id}" if callable(found) else ""
