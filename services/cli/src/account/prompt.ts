import { createInterface, type Interface } from "node:readline";
import { CommandError } from "../output.ts";

/** Reads lines from the terminal or a pipe. */
type Prompt = {
  /** One line, trimmed. Throws a `CommandError` at the end of input. */
  ask: (question: string) => Promise<string>;
  close: () => void;
};

/** Prompts go to stderr, so that stdout has only the command's output. */
export function openPrompt(noAnswer: string): Prompt {
  let terminal: Interface | undefined;
  const waiting: ((line: string | undefined) => void)[] = [];
  const lines: string[] = [];
  let hasEnded = false;
  const open = () => {
    terminal = createInterface({ input: process.stdin });
    terminal.on("line", (line) => {
      const next = waiting.shift();
      if (next) next(line);
      else lines.push(line);
    });
    terminal.on("close", () => {
      hasEnded = true;
      for (const next of waiting.splice(0)) next(undefined);
    });
  };
  return {
    ask: async (question) => {
      if (!terminal) open();
      process.stderr.write(question);
      const given = lines.shift();
      const line =
        given ?? (hasEnded ? undefined : await new Promise<string | undefined>((next) => waiting.push(next)));
      if (line === undefined) throw new CommandError(noAnswer);
      return line.trim();
    },
    close: () => terminal?.close(),
  };
}
