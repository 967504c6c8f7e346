"""Run one case from its seed: fit it or check that it raises, and check its properties."""

from __future__ import annotations

import os
import traceback
import warnings
from pathlib import Path

import joblib
import numpy as np
import sklearn
from sklearn.exceptions import ConvergenceWarning

import sparsegam
from fuzz import hostile, properties
from fuzz.calls import call_of, collected
from fuzz.cases import draw_case
from fuzz.command_line import run_commands
from fuzz.known import KNOWN_PROPERTY_FAILURES, known_failure

HARM_SHARE = 0.15
COMMANDS_SHARE = 0.02
COSTLY = 3  # number of checked properties that need further fits
OURS = tuple(str(Path(module.__file__).parent) + os.sep for module in (sparsegam, sklearn, joblib))
REFUSALS = (ValueError, TypeError)


def describe(seed):
    """Return a readable description of the case of a seed."""
    if np.random.default_rng([20261, seed]).random() < COMMANDS_SHARE:
        return f"case {seed}: the command line"
    return draw_case(seed).describe()


def run_case(seed, *, everything=False, only=None):
    """Run the case of a seed; return what was checked, and a list of pairs of property and error message."""
    rng = np.random.default_rng([20261, seed])
    if rng.random() < COMMANDS_SHARE:
        return _run_commands(rng)
    case = draw_case(seed)
    call = call_of(case)
    if rng.random() < HARM_SHARE:
        harms = hostile.corruptions_for(case)
        case.harm = harms[rng.integers(len(harms))]
        call = case.harm(rng, call)
    known = None if everything else known_failure(case, call)
    if known:
        return {"kind": f"left out: {known}", "checked": [], "failed": [], "note": ""}
    if case.harm is not None:
        return _run_corrupted(case, call)
    return _run_valid(case, call, rng, everything=everything, only=only)


def _run_commands(rng):
    out = {"kind": "command line", "checked": ["commands_succeed"], "failed": [], "note": ""}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wrong = _checked(lambda run, rng: run_commands(rng), None, rng)
    if wrong:
        out["failed"].append(("commands_succeed", wrong))
    return out


def _run_valid(case, call, rng, *, everything, only):
    out = {"kind": case.kind, "checked": ["accepted"], "failed": [], "note": ""}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            thing = call.make()
        except Exception as error:
            if not (case.doubts and isinstance(error, REFUSALS)):
                out["failed"].append(("accepted", described(error)))
            else:
                out["kind"] = "refused as expected"
                out["failed"] += [("refused_clearly", wrong) for wrong in [_wrong_refusal(error)] if wrong]
            return out
        _note_warnings(caught, out)
        run = collected(case, call, thing)
        for function in _chosen(case, rng, everything=everything, only=only):
            out["checked"].append(function.__name__)
            wrong = _checked(function, run, rng)
            if wrong:
                out["failed"].append((function.__name__, wrong))
    return out


def _chosen(case, rng, *, everything, only):
    functions = properties.apply_to(case)
    if only:
        return [function for function in functions if function.__name__ in only]
    if not everything:
        functions = [function for function in functions if function.__name__ not in KNOWN_PROPERTY_FAILURES]
    cheap = [function for function in functions if function not in properties.SOMETIMES]
    costly = [function for function in functions if function in properties.SOMETIMES]
    return cheap + [costly[i] for i in rng.permutation(len(costly))[:COSTLY]]


def _checked(function, run, rng):
    try:
        return function(run, rng)
    except Exception as error:
        return described(error)


def _run_corrupted(case, call):
    out = {"kind": f"corrupted: {case.harm.__name__}", "checked": ["refused"], "failed": [], "note": call.note}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            call.make()
        except REFUSALS as error:
            wrong = _wrong_refusal(error)
            if wrong:
                out["failed"].append(("refused_clearly", f"{call.note} {wrong}"))
        except Exception as error:
            out["failed"].append(("refused", f"{call.note} {described(error)}"))
        else:
            out["failed"].append(("refused", f"{call.kind} accepted {call.note or _shown(call)}"))
    return out


def _shown(call):
    return f"X {type(call.X).__name__}, y {call.y!r:.80}, weight {call.weight!r:.80}"


def _wrong_refusal(error):
    """Return an error message unless an exception has a useful text and was raised by us, scikit-learn or joblib."""
    message = str(error)
    if len(message) < 8 or "incompatible function arguments" in message:
        return f"message too short: {described(error)}"
    frames = traceback.extract_tb(error.__traceback__)
    last = frames[-1].filename
    return None if last.startswith(OURS) else f"raised by another package: {described(error)}"


def _note_warnings(caught, out):
    """Report warnings of other packages, which indicate a case that was overlooked."""
    out["checked"].append("quiet")
    for warning in caught:
        stray = not issubclass(warning.category, UserWarning | ConvergenceWarning)
        if stray and not issubclass(warning.category, DeprecationWarning | FutureWarning):
            where = f"{Path(warning.filename).name}:{warning.lineno}"
            out["failed"].append(("quiet", f"{warning.category.__name__} at {where}: {warning.message}"))
            return


def described(error):
    """Return an exception as one line, with its innermost location outside the fuzzer."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "fuzz" not in frame.filename]
    where = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{where}: {str(error)[:300]}"
