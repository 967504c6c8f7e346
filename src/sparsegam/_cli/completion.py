"""Completion scripts for bash, zsh and fish."""

import argparse
from collections.abc import Iterator, Mapping

BASH = """\
_sparsegam() {{
    local word="${{COMP_WORDS[COMP_CWORD]}}" last="${{COMP_WORDS[COMP_CWORD-1]}}" command="${{COMP_WORDS[1]}}"
    case "$command $last" in
{choices}
    esac
    if [ "$COMP_CWORD" = 1 ]; then
        COMPREPLY=($(compgen -W "{commands} --help --version" -- "$word"))
        return
    fi
    case "$word" in -*)
        case "$command" in
{options}
        esac
    esac
}}
complete -o default -F _sparsegam sparsegam
"""
ZSH = "autoload -Uz bashcompinit && bashcompinit\n"


def completion_script(shell: str, parser: argparse.ArgumentParser) -> str:
    """Return the completion script of a shell. Values without a fixed set of choices are completed as file names.

    Parameters
    ----------
    shell : {"bash", "zsh", "fish"}
        The shell.
    parser : argparse.ArgumentParser
        The parser of all commands.

    Returns
    -------
    str
        The script, without a trailing newline.
    """
    commands = _commands(parser)
    text = _fish(commands) if shell == "fish" else (ZSH if shell == "zsh" else "") + _bash(commands)
    return text.rstrip("\n")


def _commands(parser: argparse.ArgumentParser) -> Mapping[str, argparse.ArgumentParser]:
    (subparsers,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    return subparsers.choices


def _bash(commands: Mapping[str, argparse.ArgumentParser]) -> str:
    choices, options = [], []
    for name, command in commands.items():
        words = " ".join(word for action in command._actions for word in action.option_strings)
        options.append(f'            {name}) COMPREPLY=($(compgen -W "{words}" -- "$word")) ;;')
        for place, values in _choices(name, command):
            reply = f'COMPREPLY=($(compgen -W "{" ".join(values)}" -- "$word")); return ;;'
            choices.append(f'        "{name} {place}") {reply}')
    return BASH.format(commands=" ".join(commands), choices="\n".join(choices), options="\n".join(options))


def _choices(name: str, command: argparse.ArgumentParser) -> Iterator[tuple[str, list[str]]]:
    """Yield the word before a value (an option or the command) and the possible values."""
    for action in command._actions:
        if action.choices is not None:
            for place in action.option_strings or [name]:
                yield place, [str(value) for value in action.choices]


def _fish(commands: Mapping[str, argparse.ArgumentParser]) -> str:
    lines = ["complete -c sparsegam -n __fish_use_subcommand -l version -d 'print the version'"]
    for name, command in commands.items():
        lines.append(f"complete -c sparsegam -f -n __fish_use_subcommand -a {name} -d {_quoted(command.description)}")
        lines += [_fish_line(name, action) for action in command._actions if action.option_strings or action.choices]
    return "\n".join(lines)


def _fish_line(name: str, action: argparse.Action) -> str:
    words = [f"complete -c sparsegam -n '__fish_seen_subcommand_from {name}'"]
    words += [f"-{'l' if word[1] == '-' else 's'} {word.lstrip('-')}" for word in action.option_strings]
    words += [f"-x -a '{' '.join(map(str, action.choices))}'"] if action.choices is not None else []
    words += ["-r"] if action.choices is None and action.nargs != 0 else []
    return " ".join([*words, "-d", _quoted(action.help)])


def _quoted(text: str | None) -> str:
    plain = (text or "").replace("\\", "\\\\").replace("'", "\\'")
    return f"'{plain}'"
