"""One case run from its seed: fitted, or refused as it must be, and asked for its properties."""

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
from fuzz.calls import call_of, looked_at
from fuzz.cases import draw_case
from fuzz.command_line import run_commands
from fuzz.known import PROPERTIES_TO_COME, left_out

HARM_SHARE = 0.15
COMMANDS_SHARE = 0.02
COSTLY = 3  # properties of a case that take fits of their own
OURS = tuple(str(Path(module.__file__).parent) + os.sep for module in (sparsegam, sklearn, joblib))
REFUSALS = (ValueError, TypeError)


def describe(seed):
    """What the case of a seed is, to be read by a person."""
    if np.random.default_rng([20261, seed]).random() < COMMANDS_SHARE:
        return f"case {seed}: the command line"
    return draw_case(seed).describe()


def run_case(seed, *, everything=False, only=None):
    """Run the case of a seed; return what was checked, and what failed: pairs of a property's name and a message."""
    rng = np.random.default_rng([20261, seed])
    if rng.random() < COMMANDS_SHARE:
        return _run_commands(rng)
    case = draw_case(seed)
    call = call_of(case)
    if rng.random() < HARM_SHARE:
        harms = hostile.harms_for(case)
        case.harm = harms[rng.integers(len(harms))]
        call = case.harm(rng, call)
    known = None if everything else left_out(case, call)
    if known:
        return {"kind": f"left out: {known}", "checked": [], "failed": [], "note": ""}
    if case.harm is not None:
        return _run_harmed(case, call)
    return _run_sound(case, call, rng, everything=everything, only=only)


def _run_commands(rng):
    out = {"kind": "command line", "checked": ["commands_end_well"], "failed": [], "note": ""}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wrong = _ask(lambda run, rng: run_commands(rng), None, rng)
    if wrong:
        out["failed"].append(("commands_end_well", wrong))
    return out


def _run_sound(case, call, rng, *, everything, only):
    out = {"kind": case.kind, "checked": ["accepted"], "failed": [], "note": ""}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            thing = call.make()
        except Exception as error:
            if not (case.doubts and isinstance(error, REFUSALS)):
                out["failed"].append(("accepted", told(error)))
            else:
                out["kind"] = "refused, rightly"
                out["failed"] += [("refused_in_words", wrong) for wrong in [_wrong_refusal(error)] if wrong]
            return out
        _note_warnings(caught, out)
        run = looked_at(case, call, thing)
        for function in _chosen(case, rng, everything=everything, only=only):
            out["checked"].append(function.__name__)
            wrong = _ask(function, run, rng)
            if wrong:
                out["failed"].append((function.__name__, wrong))
    return out


def _chosen(case, rng, *, everything, only):
    functions = properties.apply_to(case)
    if only:
        return [function for function in functions if function.__name__ in only]
    if not everything:
        functions = [function for function in functions if function.__name__ not in PROPERTIES_TO_COME]
    cheap = [function for function in functions if function not in properties.SOMETIMES]
    costly = [function for function in functions if function in properties.SOMETIMES]
    return cheap + [costly[i] for i in rng.permutation(len(costly))[:COSTLY]]


def _ask(function, run, rng):
    try:
        return function(run, rng)
    except Exception as error:
        return told(error)


def _run_harmed(case, call):
    out = {"kind": f"harmed: {case.harm.__name__}", "checked": ["refused"], "failed": [], "note": call.note}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            call.make()
        except REFUSALS as error:
            wrong = _wrong_refusal(error)
            if wrong:
                out["failed"].append(("refused_in_words", f"{call.note} {wrong}"))
        except Exception as error:
            out["failed"].append(("refused", f"{call.note} {told(error)}"))
        else:
            out["failed"].append(("refused", f"{call.kind} accepted {call.note or _shown(call)}"))
    return out


def _shown(call):
    return f"X {type(call.X).__name__}, y {call.y!r:.80}, weight {call.weight!r:.80}"


def _wrong_refusal(error):
    """Refusals say something, and are raised by us or by checks of scikit-learn and joblib, not by what lies below."""
    message = str(error)
    if len(message) < 8 or "incompatible function arguments" in message:
        return f"says too little: {told(error)}"
    frames = traceback.extract_tb(error.__traceback__)
    last = frames[-1].filename
    return None if last.startswith(OURS) else f"comes from below: {told(error)}"


def _note_warnings(caught, out):
    """Warnings that are not ours mean that something was not thought of."""
    out["checked"].append("quiet")
    for warning in caught:
        stray = not issubclass(warning.category, UserWarning | ConvergenceWarning)
        if stray and not issubclass(warning.category, DeprecationWarning | FutureWarning):
            where = f"{Path(warning.filename).name}:{warning.lineno}"
            out["failed"].append(("quiet", f"{warning.category.__name__} at {where}: {warning.message}"))
            return


def told(error):
    """An error in one line, with the last line of ours that it passed."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "fuzz" not in frame.filename]
    where = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{where}: {str(error)[:300]}"
