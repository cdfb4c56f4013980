"""Registry of policies by name: the built-in ones and those that a user's file declares."""

import hashlib
import importlib
import importlib.util
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from adhere.compilation.user_code import Place, sentence_of, traceback_place
from adhere.errors import InputError, SourceError, nearest
from adhere.policies.base.learner import Learner
from adhere.policies.base.policy import MAX_DEPTH, Policy, parameters_of

registry: dict[str, type[Any]] = {}
_FULL_INFORMATION = ("hedge", "hierarchical-hedge", "hierarchicalhedge")


def lookup(name: str) -> type[Any]:
    """Return the class of a policy, or raise an error that suggests the nearest name."""
    if name in registry:
        return registry[name]
    if name in _FULL_INFORMATION:
        expected = "a policy; this needs the losses of all arms (see adhere.hedge, adhere.hierarchical_hedge)"
        raise InputError("policy", name, expected)
    expected = nearest(name, sorted(registry), complete=True)
    own = "" if "did you mean" in expected else "; a policy of your own must be imported first (--import FILE.py)"
    raise InputError("policy", name, expected + own)


POLICY, WORD, ARM, OTHER = "policy", "word", "arm", "other"


def make(name: str, arguments: list[object], options: Mapping[str, object]) -> Policy:
    """Make a policy from its name and the values of its fields. If a value does not fit, an error names it."""
    cls: type[Policy] = lookup(name)
    fields = parameters_of(cls)
    if len(arguments) > len(fields):
        at_most = "1 argument" if len(fields) == 1 else f"{len(fields) or 'no'} arguments"
        sentence = f"policy {name} takes {'at most ' if fields else ''}{at_most} (got {len(arguments)})"
        if ARM in (kind_of(name, place) for place in range(len(fields))):
            sentence += "; put the name of an arm that has a comma in quotation marks"
        raise InputError(f"policy {name}", arguments[len(fields)], f"at most {at_most}", sentence)
    values = dict(zip(fields, arguments, strict=False))
    allowed = [*fields, "protocol"] if issubclass(cls, Learner) else fields
    for key, value in options.items():
        if key not in allowed:
            sentence = f"{name} has no option {key!r} (it has {', '.join(fields) or 'none'})"
            raise InputError(f"policy {name}", f"{key}=…", nearest(key, fields), sentence)
        if key in values:
            raise InputError(f"policy {name}", key, "each option once", f"policy {name}: {key} is given twice")
        values[key] = value
    return cls(**values)


def kind_of(name: str, option: str | int) -> str:
    """Return the kind of value that an option takes, given its name or index, or OTHER if the option does not exist.

    >>> kind_of("floor", 0) == POLICY, kind_of("floor", "share") == OTHER, kind_of("floor", "rule") == WORD
    (True, True, True)
    """
    cls: Any = registry.get(name)
    names = [] if cls is None else parameters_of(cls)
    key = option if isinstance(option, str) else (names[option] if option < len(names) else "")
    if key not in names:
        return OTHER
    metadata = cls.__dataclass_fields__[key].metadata
    if metadata.get("is_arm"):
        return ARM
    if "options" in metadata:
        return WORD
    return POLICY if metadata.get("is_policy") else OTHER


def from_json(data: object, depth: int = 1) -> Policy:
    """Return the policy that `to_json` wrote.

    >>> str(from_json({"name": "exp3", "gamma": 0.1, "protocol": "actual"}))
    'exp3(gamma=0.1)/actual'
    """
    if not isinstance(data, Mapping) or not isinstance(data.get("name"), str):
        raise InputError("policy", data, "an object with a name, e.g. {'name': 'thompson'}")
    if depth > MAX_DEPTH:
        raise InputError("policy", data["name"], f"at most {MAX_DEPTH} policies inside each other")
    options = {str(key): _value_from_json(str(key), value, depth + 1) for key, value in data.items() if key != "name"}
    return make(str(data["name"]).strip().lower(), [], options)


def _value_from_json(key: str, value: Any, depth: int) -> object:
    if key == "protocol" or not isinstance(value, (Mapping, list)):
        return value
    return [from_json(item, depth) for item in value] if isinstance(value, list) else from_json(value, depth)


def import_policies(path: str | Path) -> ModuleType:
    """Run a Python file that declares policies, so that their names can be used.

    Parameters
    ----------
    path : str or Path
        File with a name that ends in ``.py``. A file that was imported before is not run again.

    Returns
    -------
    module
        Module that the file became.

    See Also
    --------
    check_policies : Check the policies of a file.
    parse_policy : Make a policy from its text.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from adhere import import_policies
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "greeting.py")
    ...     _ = file.write_text("WORDS = 'no policy in here'")
    ...     print(import_policies(file).WORDS)
    no policy in here

    """
    file = Path(path)
    if not file.is_file() or file.suffix != ".py":
        sentence = f"{path} does not exist" if not file.exists() else f"{path} is not a Python file (.py)"
        raise InputError("import", str(path), "a file whose name ends in .py", sentence)
    file = file.resolve()
    # Each file gets a module name of its own, so that two files called policy.py do not replace each other.
    name = f"{file.stem}_{hashlib.sha256(str(file).encode()).hexdigest()[:8]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None  # noqa: PT018  (a .py file always has both)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    if str(file.parent) not in sys.path:  # as for a script: it may import modules beside it
        sys.path.insert(0, str(file.parent))
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        if isinstance(error, SourceError):
            raise
        place = traceback_place(error.__traceback__, [str(file)]) or Place(
            str(file), getattr(error, "lineno", None) or 1
        )
        raise SourceError(str(place), sentence_of(error)) from error
    return module
