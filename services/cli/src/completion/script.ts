// Shell scripts that complete `svc`; they contain the whole tree of commands, so completion starts no process.

import { resolve } from "node:path";
import { shellWord } from "@svc/local-stack";
import type { Command } from "commander";

export const shells = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof shells)[number];

type Node = { path: string; words: string[] };

const repo = resolve(import.meta.dirname, "../../../..");

/** What may follow each command: its subcommands or its options. */
export function nodesOf(program: Command): Node[] {
  const common = ["--data", "--json"];
  const walk = (command: Command, path: string[]): Node[] => {
    const below = command.commands.map((one) => one.name());
    const own =
      path.length === 0 ? [] : command.options.flatMap(({ long, hidden }) => (long && !hidden ? [long] : []));
    const node = { path: path.join(" "), words: [...below, ...own, ...common, "--help"] };
    return [node, ...command.commands.flatMap((one) => walk(one, [...path, one.name()]))];
  };
  return walk(program, []);
}

/** A script for the shell that defines the function `svc` and its completion. */
export function scriptOf(program: Command, shell: Shell): string {
  const nodes = nodesOf(program);
  const run = `node ${shellWord(resolve(repo, "launch.cjs"))} ${shellWord(resolve(repo, "services/cli/src/main.ts"))}`;
  if (shell === "bash") return bash(nodes, run);
  return shell === "zsh" ? zsh(nodes, run) : fish(nodes, run);
}

// Longest path first, so that a command matches before its group; words after a command are its arguments.
function cases(nodes: readonly Node[], assign: (words: string[]) => string): string {
  return nodes
    .toSorted((one, other) => other.path.length - one.path.length)
    .map(({ path, words }) => `    ${path === "" ? "*" : `"${path}"|"${path} "*`}) ${assign(words)} ;;`)
    .join("\n");
}

function bash(nodes: readonly Node[], run: string): string {
  return `# source <(npm run -s svc -- completion bash)
svc() { ${run} "$@"; }
_svc() {
  local at="" word words
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) ;; *) at="\${at:+$at }$word" ;; esac
  done
  case "$at" in
${cases(nodes, (words) => `words="${words.join(" ")}"`)}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _svc svc`;
}

function zsh(nodes: readonly Node[], run: string): string {
  return `# source <(npm run -s svc -- completion zsh)
svc() { ${run} "$@"; }
_svc() {
  local at="" word
  local -a found
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$word" in -*) ;; *) at="\${at:+$at }$word" ;; esac
  done
  case "$at" in
${cases(nodes, (words) => `found=(${words.join(" ")})`)}
  esac
  compadd -- "\${found[@]}" || _files
}
compdef _svc svc`;
}

function fish(nodes: readonly Node[], run: string): string {
  const lines = nodes.map(
    ({ path, words }) =>
      `    case '${path === "" ? "*" : path}' ${path === "" ? "" : `'${path} *'`}\n      printf '%s\\n' ${words.join(" ")}`,
  );
  const ordered = lines.slice(1).toReversed();
  return `# npm run -s svc -- completion fish | source
function svc; ${run} $argv; end
function __svc_words
  set -l at (string join ' ' (string match -v -- '-*' (commandline -opc)[2..-1]))
  switch "$at"
${[...ordered, lines[0]].join("\n")}
  end
end
complete -c svc -a '(__svc_words)'`;
}
