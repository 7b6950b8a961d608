// What plans of updates and of the way back print can be typed: commands that there are, values that an installation has.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { createProgram } from "../../services/cli/src/main.ts";
import { readValues } from "../../services/cli/src/manifests/values/read.ts";
import { componentNames } from "../../services/ops-watchdog/src/config.ts";
import { planUpdates } from "../../services/ops-watchdog/src/update/plan.ts";
import { decideRollback } from "../../services/ops-watchdog/src/update/rollback.ts";

const bundle = { name: "daily-1", label: "daily", takenAt: new Date(0), version: "0.1.0" } as const;
const ways = {
  "an update": planUpdates(componentNames.map((name) => ({ name, latest: "0.2.0" }))).flatMap(
    ({ steps }) => steps,
  ),
  "a way back with a bundle": decideRollback([{ ...bundle, migrations: 1 }], 2).steps,
  "a way back without one": decideRollback([{ ...bundle, migrations: 2 }], 2).steps,
};
const program = createProgram();

/** Why a line of `svc` cannot be typed, or undefined. */
function problemOf(words: readonly string[]): string | undefined {
  let at: typeof program = program;
  const rest = [...words];
  for (;;) {
    const next = at.commands.find((one) => one.name() === rest[0]);
    if (!next) break;
    at = next;
    rest.shift();
  }
  if (at.commands.length > 0) return `there is no command ${words.join(" ")}`;
  const known = [...at.options, ...program.options].map(({ long }) => long);
  const unknown = rest.filter((word) => word.startsWith("--") && !known.includes(word));
  if (unknown.length > 0) return `${at.name()} has no ${unknown.join(", ")}`;
  const most = at.registeredArguments.some(({ variadic }) => variadic) ? 99 : at.registeredArguments.length;
  const options = rest.filter((word) => word.startsWith("--")).length;
  return rest.length - 2 * options > most ? `${at.name()} takes no ${rest.join(" ")}` : undefined;
}

for (const [way, steps] of Object.entries(ways))
  describe(way, () => {
    const lines = steps.flatMap(({ commands }) => commands);

    test("names commands of svc that there are", () => {
      const ours = lines
        .flatMap((line) => (line.split("  #")[0] ?? "").split(/&&|\|/))
        .map((part) => part.trim().split(/\s+/))
        .filter(([first]) => first === "svc")
        .map((words) => words.slice(1));
      assert.ok(ours.length > 0);
      assert.deepEqual(
        ours.map(problemOf).filter((problem) => problem !== undefined),
        [],
      );
    });
  });

for (const way of ["a way back with a bundle", "a way back without one"] as const)
  test(`${way} names every image of ours in the values, with the release that ran`, () => {
    const lines = ways[way].flatMap(({ commands }) => commands).filter((line) => line.startsWith("images:"));
    assert.equal(lines.length, 1);
    const dir = mkdtempSync(join(tmpdir(), "svc-plans-"));
    try {
      const file = join(dir, "values.yaml");
      writeFileSync(file, lines[0] ?? "");
      const { pullPolicy: _, pullSecrets: __, ...images } = readValues(file).images;
      const defaults = readValues().images;
      for (const [name, image] of Object.entries(images)) {
        const [own] = defaults[name as keyof typeof images].split(":");
        if (own?.startsWith("svc")) assert.equal(image, `REGISTRY/${own}:0.1.0`, name);
        else assert.equal(image, defaults[name as keyof typeof images], name);
      }
    } finally {
      rmSync(dir, { recursive: true });
    }
  });
