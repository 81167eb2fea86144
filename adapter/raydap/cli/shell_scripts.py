"""Scripts for shell completion, in place of click's own, which cannot complete sets of workers.

A set such as `state:paused,stopped` contains a colon, at which bash splits words, and a comma, at which click's script
for fish splits an answer. zsh would add a space after `state:`, which must not be there.
"""

import os
from typing import Any

from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ZshComplete,
    add_completion_class,
    split_arg_string,
)

_BASH = """\
%(complete_func)s() {
    local IFS=$'\\n' response completion type value
    response=$(env COMP_LINE="${COMP_LINE:0:$COMP_POINT}" COMP_WORD="$2" %(complete_var)s=bash_complete "$1")
    for completion in $response; do
        IFS=, read -r type value <<< "$completion"
        if [[ $type == file ]]; then
            compopt -o default
        else
            COMPREPLY+=("$value")
        fi
    done
    if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *[:/] ]]; then
        compopt -o nospace
    fi
    return 0
}

complete -o nosort -F %(complete_func)s %(prog_name)s
"""

_ZSH = """\
#compdef %(prog_name)s

%(complete_func)s() {
    local -a whole begun plain response
    local type key descr
    (( ! $+commands[%(prog_name)s] )) && return 1
    response=("${(@f)$(env COMP_WORDS="${words[*]}" COMP_CWORD=$((CURRENT-1)) %(complete_var)s=zsh_complete \
%(prog_name)s)}")
    for type key descr in ${response}; do
        if [[ "$type" == file ]]; then
            _path_files -f
        elif [[ "$key" == *: || "$key" == */ ]]; then
            begun+=("${key//:/\\\\:}:$descr")
        elif [[ "$descr" == _ ]]; then
            plain+=("$key")
        else
            whole+=("${key//:/\\\\:}:$descr")
        fi
    done
    if (( $#begun )); then
        _describe -V begun begun -U -S ''
    fi
    if (( $#whole )); then
        _describe -V whole whole -U
    fi
    if (( $#plain )); then
        compadd -U -V plain -a plain
    fi
}

if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    %(complete_func)s "$@"
else
    compdef %(complete_func)s %(prog_name)s
fi
"""


@add_completion_class
class _Bash(BashComplete):
    """Completion for bash, which reads the line exactly as typed.

    bash replaces only COMP_WORD, which is the end of the incomplete word. So answers leave out what precedes it.
    """

    source_template = _BASH

    def get_completion_args(self) -> tuple[list[str], str]:
        line = os.environ["COMP_LINE"]
        words = split_arg_string(line)
        # If one more letter would begin a new word, the line ends with a space that separates words. A space that is
        # escaped or in quotes does not.
        if len(split_arg_string(f"{line}x")) > len(words):
            return words[1:], ""
        return words[1:-1], words[-1]

    def complete(self) -> str:
        args, incomplete = self.get_completion_args()
        kept = incomplete.removesuffix(os.environ["COMP_WORD"])
        return "\n".join(
            f"{item.type},{str(item.value).removeprefix(kept)}" for item in self.get_completions(args, incomplete)
        )


@add_completion_class
class _Zsh(ZshComplete):
    """Completion for zsh. The script escapes colons itself, because not all versions of click escape them."""

    source_template = _ZSH

    def format_completion(self, item: CompletionItem[Any]) -> str:
        return f"{item.type}\n{item.value}\n{item.help or '_'}"


@add_completion_class
class _Fish(FishComplete):
    """Completion for fish. The script splits an answer only at its first comma, which ends the type."""

    source_template = FishComplete.source_template.replace('string split ","', 'string split -m 1 ","')
