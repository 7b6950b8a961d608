import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, test } from "node:test";
import { Command, CommanderError } from "commander";
import { createProgram } from "./main.ts";
import { CommandError } from "./output.ts";
import { addCommonOptions, command, fail, group, list, repeat, runs, wholeNumber } from "./program.ts";

type Written = { out: string; error: string };
let written: Written;
let restore: () => void;
let exitCode: typeof process.exitCode;

beforeEach(() => {
  written = { out: "", error: "" };
  const [out, error] = [process.stdout.write, process.stderr.write];
  const collect = (key: keyof Written) => (text: string | Uint8Array) => {
    written[key] += String(text);
    return true;
  };
  process.stdout.write = collect("out");
  process.stderr.write = collect("error");
  exitCode = process.exitCode;
  restore = () => {
    process.stdout.write = out;
    process.stderr.write = error;
  };
});
afterEach(() => {
  restore();
  process.exitCode = exitCode;
});

async function run(program: Command, args: readonly string[]): Promise<number | undefined> {
  process.exitCode = undefined;
  const output = { writeErr: (text: string) => void process.stderr.write(text) };
  for (const one of [program, ...program.commands]) one.configureOutput(output);
  await program.parseAsync(args, { from: "user" }).catch(fail);
  return process.exitCode as number | undefined;
}

function sample(
  work: () => Promise<never> | Promise<{ json: unknown; text: string; exitCode?: 0 | 1 }>,
): Command {
  const program = addCommonOptions(new Command("svc"));
  command(program, "look", { does: "a sample", example: "look" }).action(runs(work));
  const made = group(program, "things", "several samples");
  command(made, "list", { does: "list the samples", example: "things list" }).action(runs(work));
  return program;
}
const fine = async () => ({ json: { found: 1 }, text: "one found" });

describe("exit codes", () => {
  const cases: [what: string, args: string[], work: () => ReturnType<typeof fine>, code: number][] = [
    ["0 for success", ["look"], fine, 0],
    ["1 for an outcome that is a failure", ["look"], async () => ({ ...(await fine()), exitCode: 1 }), 1],
    ["1 for a failure", ["look"], () => Promise.reject(new CommandError("it is away")), 1],
    ["2 for an unknown option", ["look", "--nothing"], fine, 2],
    ["2 for an unknown command", ["nowhere"], fine, 2],
    ["2 for an unknown command of a group", ["things", "nowhere"], fine, 2],
    ["2 for a group alone", ["things"], fine, 2],
  ];
  for (const [what, args, work, code] of cases)
    test(what, async () => assert.equal(await run(sample(work), args), code));
});

describe("output", () => {
  test("words go to standard output, one JSON value with --json", async () => {
    await run(sample(fine), ["look"]);
    assert.equal(written.out, "one found\n");
    written.out = "";
    await run(sample(fine), ["look", "--json"]);
    assert.deepEqual(JSON.parse(written.out), { found: 1 });
  });

  test("a failure is one sentence on standard error, with commands that can be pasted", async () => {
    const work = () => Promise.reject(new CommandError("you are signed out; run `svc account login`"));
    await run(sample(work), ["look", "--data", "/srv/my svc"]);
    assert.equal(written.out, "");
    assert.match(written.error, /^svc: .*npm run svc -- account login --data '\/srv\/my svc'\n$/);
  });

  test("a group alone lists its commands, with --json as one value", async () => {
    await run(sample(fine), ["things", "--json"]);
    assert.deepEqual(JSON.parse(written.out), {
      commands: [{ name: "list", description: "list the samples" }],
    });
  });
});

describe("values of options", () => {
  test("whole numbers are digits only", () => {
    assert.equal(wholeNumber("60"), 60);
    for (const text of ["", "-1", "1.5", "1e3", "60s", "9".repeat(16)])
      assert.throws(() => wholeNumber(text), CommanderError, text);
  });

  test("lists take commas and repetition, repeated options keep their order", () => {
    assert.deepEqual(list("b,,c", ["a"]), ["a", "b", "c"]);
    assert.deepEqual(repeat("b,c", ["a"]), ["a", "b,c"]);
  });
});

describe("wrong calls of real commands end with 2 before anything is asked", () => {
  const calls: readonly (readonly string[])[] = [
    ["server", "create"],
    ["server", "create", "survival", "--policy", "nobody"],
    ["server", "create", "survival", "--idle", "soon"],
    ["account", "login", "--with", "smile"],
    ["account", "setup"],
    ["schedule", "create", "survival", "--action", "dance"],
    ["completion", "powershell"],
    ["audit-export"],
    ["open", "--host", "elsewhere"],
    ["up", "--ports", "some"],
  ];
  for (const args of calls) {
    test(args.join(" "), async () => {
      const program = createProgram();
      const every = (one: Command): Command[] => [one, ...one.commands.flatMap(every)];
      for (const one of every(program))
        one.configureOutput({ writeErr: () => undefined, writeOut: () => undefined });
      process.exitCode = undefined;
      await program.parseAsync(args, { from: "user" }).catch(fail);
      assert.equal(process.exitCode, 2);
    });
  }
});
