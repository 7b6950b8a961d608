import assert from "node:assert/strict";
import { test } from "node:test";
import type { Command } from "commander";
import { builtInDataDir } from "./config.ts";
import { hint } from "./hint.ts";
import { createProgram } from "./main.ts";

type Walked = { path: string[]; command: Command };

function walk(command: Command, path: string[] = []): Walked[] {
  return command.commands.flatMap((one) => {
    const own = [...path, one.name()];
    return [{ path: own, command: one }, ...walk(one, own)];
  });
}

const samples: Record<string, string> = { shell: "bash", "--hours": "4" };

/** Arguments that satisfy a command: one word for each argument and each option that must be given. */
function argumentsOf({ path, command }: Walked): string[] {
  const given = command.registeredArguments.map(
    (one) => one.argChoices?.[0] ?? samples[one.name()] ?? "word",
  );
  const options = command.options
    .filter(({ mandatory }) => mandatory)
    .flatMap(({ long }) => [long ?? "", samples[long ?? ""] ?? "x"]);
  return [...path, ...given, ...options];
}

/** What a command would have been told, without running it. */
async function toldTo(args: readonly string[]): Promise<{ data: string; json?: boolean }> {
  const program = createProgram();
  let received: { data: string; json?: boolean } | undefined;
  for (const { command } of walk(program)) {
    command.action((...given: unknown[]) => {
      received = (given.at(-1) as Command).optsWithGlobals();
    });
  }
  await program.parseAsync(args, { from: "user" });
  assert.ok(received, args.join(" "));
  return received;
}

test("every command and every group takes --data and --json, before and behind its name", async () => {
  const all = walk(createProgram());
  assert.ok(all.length > 50);
  for (const walked of all) {
    const common = ["--data", "/srv/svc", "--json"];
    const own = walked.command.commands.length > 0 ? walked.path : argumentsOf(walked);
    const [first = "", ...rest] = own;
    for (const args of [
      [...common, ...own],
      [first, ...common, ...rest],
      [...own, ...common],
    ]) {
      const { data, json } = await toldTo(args);
      assert.deepEqual({ data, json }, { data: "/srv/svc", json: true }, args.join(" "));
    }
  }
});

test("every command says what it does, and shows an example that it would take", async () => {
  for (const { path, command } of walk(createProgram())) {
    const words = path.join(" ");
    assert.match(command.description(), /^\S.{5,}/, words);
    if (command.commands.length > 0) continue;
    let help = "";
    command.configureOutput({
      writeOut: (text) => {
        help += text;
      },
    });
    command.outputHelp();
    const [, example = ""] = /\nExample:\n {2}npm run svc -- ([^\n]+)\n/.exec(help) ?? [];
    assert.ok(example.startsWith(words), `${words}: ${example}`);
    const args = example
      .replace(/ <.*$/, "")
      .match(/'[^']*'|"[^"]*"|\S+/g)
      ?.map((word) => word.replaceAll(/^['"]|['"]$/g, ""));
    await toldTo(args ?? []);
  }
});

test("what cannot be undone waits for --yes", () => {
  const asking = walk(createProgram())
    .filter(({ command }) => command.options.some(({ long }) => long === "--yes"))
    .map(({ path }) => path.join(" "));
  for (const command of ["server delete", "backup restore", "user disable", "break-glass set-password"])
    assert.ok(asking.includes(command), command);
});

test("hints name the folder unless it is the one of the checkout", () => {
  assert.equal(hint(builtInDataDir, "status"), "npm run svc -- status");
  assert.equal(hint("/srv/my svc", "status"), "npm run svc -- status --data '/srv/my svc'");
});
