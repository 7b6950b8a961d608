// How commands are declared: common options, output and exit codes.

import { resolve } from "node:path";
import { type Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { callerDir, defaultDataDir } from "./config.ts";
import { withHints } from "./hint.ts";
import { CommandError, explainError, type Outcome, print, UsageError } from "./output.ts";

/** Options of every command, before or after its name. */
export type Common = { data: string; json?: boolean };

/** Adds the options that every command and group takes. */
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

/** A command with an example below its help; `example` is what follows `npm run svc --`. */
export function command(parent: Command, usage: string, texts: { does: string; example: string }): Command {
  return (
    parent
      .command(usage)
      .description(texts.does)
      // A group takes any word to name it in its message, and its commands would inherit that.
      .allowExcessArguments(false)
      .addHelpText("after", `\nExample:\n  npm run svc -- ${texts.example}`)
  );
}

/** A group of commands; without a command it lists them and exits with 2, or prints them as JSON. */
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

/** Loads a command's code only when it runs, so that `svc --help` is fast, and prints its outcome. */
export function runs<O>(load: (options: O & Common, ...args: string[]) => Promise<Outcome>) {
  return async (...given: unknown[]): Promise<void> => {
    // Commander passes arguments, then options, then the command.
    const self = given.at(-1) as Command;
    const options = self.optsWithGlobals<O & Common>();
    const args = given.slice(0, -2).flat() as string[];
    print(await withReadableErrors(options, () => load(options, ...args)), options.json ?? false);
  };
}

/** As `runs`, for commands that write their output themselves. */
export function streams<O>(load: (options: O & Common, ...args: string[]) => Promise<void>) {
  return async (...given: unknown[]): Promise<void> => {
    const options = (given.at(-1) as Command).optsWithGlobals<O & Common>();
    await withReadableErrors(options, () => load(options, ...(given.slice(0, -2).flat() as string[])));
  };
}

// A failure becomes one message whose commands can be pasted.
async function withReadableErrors<T>({ data }: Common, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const Kind = error instanceof UsageError ? UsageError : CommandError;
    throw new Kind(withHints(data, explainError(error)));
  }
}

/** Option of commands that cannot be undone. */
export const yes = () => new Option("--yes", "carry out the plan; without it the plan is only printed");

export function wholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError("must be a whole number.");
  return Number(text);
}

/** The same within bounds, which belong to it. */
export function wholeNumberIn(least: number, most = Number.POSITIVE_INFINITY): (text: string) => number {
  return (text) => {
    const number = wholeNumber(text);
    if (number >= least && number <= most) return number;
    const bounds = most === Number.POSITIVE_INFINITY ? `at least ${least}` : `${least} to ${most}`;
    throw new InvalidArgumentError(`must be ${bounds}.`);
  };
}

export function list(text: string, before: string[] = []): string[] {
  return [...before, ...text.split(",").filter(Boolean)];
}

export function repeat(text: string, before: string[] = []): string[] {
  return [...before, text];
}

/** Prints a failure and sets the exit code: 2 for wrong usage, 1 for everything else. */
export function fail(error: unknown): void {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? 0 : 2;
    return;
  }
  process.stderr.write(`svc: ${explainError(error)}\n`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
