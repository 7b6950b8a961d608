// How every command is made: where it finds its options, how it speaks and how it ends.

import { resolve } from "node:path";
import { type Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { callerDir, defaultDataDir } from "./config.ts";
import { withHints } from "./hint.ts";
import { CommandError, explainError, type Outcome, print } from "./output.ts";

/** What every command can be told, before or behind its name. */
export type Common = { data: string; json?: boolean };

/** Gives the program the two options that every command and every group takes. */
export function addCommonOptions(program: Command): Command {
  const data = new Option("--data <dir>", "data folder of the local stack")
    .default(defaultDataDir)
    .argParser((dir) => resolve(callerDir, dir));
  return program
    .addOption(data)
    .addOption(new Option("--json", "print one JSON value instead of text"))
    .exitOverride()
    .configureHelp({ showGlobalOptions: true });
}

/** A command with one example below its help; `example` is what is typed behind `npm run svc --`. */
export function command(parent: Command, usage: string, texts: { does: string; example: string }): Command {
  return parent
    .command(usage)
    .description(texts.does)
    .addHelpText("after", `\nExample:\n  npm run svc -- ${texts.example}`);
}

/** A group; alone it lists its commands and ends with 2, with `--json` as one value. */
export function group(parent: Command, name: string, description: string): Command {
  const made = parent.command(name).description(description).allowExcessArguments();
  return made.action((_options: unknown, self: Command) => {
    const [unknown] = self.args;
    if (unknown !== undefined)
      self.error(`error: unknown command '${unknown}'; svc ${name} --help lists them`, { exitCode: 2 });
    if (!self.optsWithGlobals<Common>().json) self.help({ error: true });
    const commands = self.commands.map((one) => ({ name: one.name(), description: one.description() }));
    print({ json: { commands }, text: "" }, true);
  });
}

/** Loads a command's code when it runs, so that `svc --help` answers at once, and prints what it came to. */
export function runs<O>(load: (options: O & Common, ...args: string[]) => Promise<Outcome>) {
  return async (...given: unknown[]): Promise<void> => {
    // Commander hands over arguments, then options, then the command itself.
    const self = given.at(-1) as Command;
    const options = self.optsWithGlobals<O & Common>();
    const args = given.slice(0, -2).flat() as string[];
    print(await inWords(options, () => load(options, ...args)), options.json ?? false);
  };
}

/** As `runs` for commands that write by themselves and as they go. */
export function streams<O>(load: (options: O & Common, ...args: string[]) => Promise<void>) {
  return async (...given: unknown[]): Promise<void> => {
    const options = (given.at(-1) as Command).optsWithGlobals<O & Common>();
    await inWords(options, () => load(options, ...(given.slice(0, -2).flat() as string[])));
  };
}

// What failed becomes one message whose commands can be pasted.
async function inWords<T>({ data }: Common, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new CommandError(withHints(data, explainError(error)));
  }
}

/** For what cannot be undone. */
export const yes = () => new Option("--yes", "carry out the plan; without it the plan is only printed");

export function wholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError("must be a whole number.");
  return Number(text);
}

export function list(text: string, before: string[] = []): string[] {
  return [...before, ...text.split(",").filter(Boolean)];
}

export function repeat(text: string, before: string[] = []): string[] {
  return [...before, text];
}

/** Says what went wrong in words: 2 for a wrong call, 1 for everything else. */
export function fail(error: unknown): void {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? 0 : 2;
    return;
  }
  process.stderr.write(`svc: ${explainError(error)}\n`);
  process.exitCode = 1;
}
