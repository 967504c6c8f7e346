"""Reject words and phrases that readers did not understand: python tools/check_language.py [--count] [PATH ...].

The rules below map a regular expression to the wording to use instead. They apply to every tracked text file: names,
comments, docstrings, messages and pages. Lines that use a word in its ordinary meaning are listed in
`tools/language_exceptions.txt`, one per line as `path pattern: text that the line contains`. Commit subjects must have
at most 72 characters. Only the standard library is used.
"""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SUFFIXES = set(".py .pyi .md .rst .cpp .hpp .cu .cuh .js .html .css .sh .yml .toml .txt".split())  # noqa: SIM905
EXCEPTIONS = ROOT / "tools" / "language_exceptions.txt"
SKIPPED = {"tools/check_language.py", "tools/language_exceptions.txt"}

# Commits before this one are not checked.
FIRST_CHECKED_COMMIT = "f1a2043"
MAX_SUBJECT = 72

THINGS = "rows?|loss(?:es)?|models?|ridges?|columns?|features?|designs?|callbacks?|workers?|shards?|terms?|steps?"
SPEAKING = "answers?|says?|speaks?|knows?|asks?|hears?|tells?|wants?|promises?"
RULES = {
    r"\b(?:posed|poses|posing)\b|\bpose (?:the|a|it|again)\b|\bposed?\(": "build the problem",
    r"\bprice per term\b|\bprices? of (?:a|the) term\b|\bprice of so many\b": "penalty per term (lambda0)",
    r"\b(?:on|to|from) (?:a|the|its|that) card\b|\bgraphics card\b|\bCUDA card\b|\bcards? holds?\b": "GPU, device",
    r"\bown (?:values|numbers)\b|\bOwn(?:Numbers|Values|Rows)\b": "raw values",
    r"\bstands? on\b|\bstanding on\b|\bstanding_on\b": "is based on, is supported by",
    r"\btold[_ ](?:of|about)\b|\btells? (?:of|whether|which)\b|\bis told\b|\bwere told\b": "declared, return whether",
    r"\bhunt(?:s|ed|ing)?\b": "candidate search",
    r"\bVector\b": "FloatArray",
    r"\b(?:run|runs|ran|running)[_ ]off\b": "diverge",
    rf"\b(?:{THINGS}) (?:{SPEAKING})\b": "only people act",
    r"\bhand(?:s|ed)? (?:it |them )?over\b|\bhand over\b": "pass, return, write",
    r"\b(?:just )?as (?:they|it) (?:are|is|stand|stands|comes?)\b": "unchanged, directly",
    r"\bso (?:many|much) (?:rows|terms|that|of|as|columns|threads|pairs)\b": "the given number of",
    r"\bbeside\b": "next to, relative to, in addition to",
    r"(?<![Tt]here )\b(?:is|are) no (?:numbers?|floats?|text|rows?|columns?|model|list|array|frame|JSON)\b": "is not a",
    r"\bin the words of\b|\bin the place of\b": "as, instead of, as text",
    r"\blets? go of\b|\bletting go\b|\blet go\b": "release, free",
    r"\brows of (?:the|a|its) fit\b|\bthose of the fit\b": "training data",
    r"\bseen[_ ]later\b|\bSeenLater\b|\bnew rows\b": "unseen data, test data",
    r"\btak(?:e|es|en|ing)[_ ]in\b": "read, accept",
    r"\ba handful\b|\bhandful of\b": "a few",
    r"\bof the house\b|\bin reach\b|\bout of reach\b": "plain wording",
    r"\b(?:asks?|asked) (?:for|of|about)\b|\bis asked\b|\bare asked\b": "request, require, compute",
    r"\bgoes by\b|\bgo by\b|\bwent by\b": "uses, follows",
    r"\bwhat is to be\b|\bwho (?:asks|asked|fits|knows|chose|calls|reads|wants|set|sets)\b": "name the thing",
    r"\b(?:warm|held) (?:point|curvature|model)\b": "warm start; frozen, cached",
    r"\bthe shell\b|\bin the shell\b": "the command line",
    r"\bcoming from\b": "migrating from",
    r"\bsays nothing\b|\bsays_nothing\b|\basks for nothing\b": "is constant; needs no",
    r"\bdeaths?\b": "failure",
    r"\bgone wrong\b|\bcomes? to nothing\b|\bhow .{1,30} came about\b": "plain wording",
}
COMPILED = {re.compile(pattern): advice for pattern, advice in RULES.items()}


def tracked_files(paths: list[str]) -> list[Path]:
    """Return the text files that git tracks, below `paths` if there are any."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", *paths], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    files = [name for name in listed if Path(name).suffix in SUFFIXES or Path(name).name == "Makefile"]
    return [ROOT / name for name in files if name not in SKIPPED and (ROOT / name).is_file()]


def exceptions() -> list[tuple[str, str]]:
    """Return pairs of a path pattern and a text; lines of such a file that contain the text are accepted."""
    if not EXCEPTIONS.exists():
        return []
    lines = [line for line in EXCEPTIONS.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    return [(path.strip(), text.strip()) for path, _, text in (line.partition(": ") for line in lines)]


def findings(file: Path, accepted: list[tuple[str, str]]) -> list[str]:
    """Return a message for each line of a file that breaks a rule."""
    name = file.relative_to(ROOT)
    texts = [text for path, text in accepted if name.match(path)]
    out = []
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        if any(text in line for text in texts):
            continue
        for pattern, advice in COMPILED.items():
            if found := pattern.search(line):
                out.append(f"{name}:{number}: {found.group()!r}: write: {advice}\n    {line.strip()[:140]}")
    return out


def long_subjects() -> list[str]:
    """Return the commit subjects that are too long."""
    command = ["git", "log", "--no-merges", "--format=%h %s", f"{FIRST_CHECKED_COMMIT}..HEAD"]
    log = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if log.returncode != 0:  # A shallow clone does not contain the first commit.
        return []
    subjects = (line.partition(" ") for line in log.stdout.splitlines())
    return [
        f"{commit}: subject of {len(text)} characters: {text}"
        for commit, _, text in subjects
        if len(text) > MAX_SUBJECT
    ]


def main(arguments: list[str]) -> int:
    """Print all findings, or with --count their number per folder; return 1 if there are any."""
    counting = "--count" in arguments
    accepted = exceptions()
    found = [
        message
        for file in tracked_files([a for a in arguments if a != "--count"])
        for message in findings(file, accepted)
    ]
    found += long_subjects()
    if counting:
        folders = Counter("/".join(message.split(":")[0].split("/")[:-1]) or "." for message in found)
        print("\n".join(f"{number:5} {folder}" for folder, number in folders.most_common()))
    else:
        print("\n".join(found))
    print(f"{len(found)} findings")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
