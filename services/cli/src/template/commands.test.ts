import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { runCommand } from "../testing/run-command.ts";
import { save } from "./commands.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-template-"));
after(() => rmSync(folder, { recursive: true }));

function fileOf(content: string): string {
  const file = join(folder, "settings.yaml");
  writeFileSync(file, content);
  return file;
}

describe("what is wrong with the input is said before anybody is asked", () => {
  const data = "/nowhere";
  test("a server and a file", async () => {
    const both = save("event", { data, from: "survival", file: "a.yaml" });
    await assert.rejects(both, { name: "UsageError", message: /--from or --file, not both/ });
  });

  const refused: [fact: string, options: Parameters<typeof save>[1], message: RegExp][] = [
    ["a file that is not there", { data, file: join(folder, "gone.yaml") }, /gone\.yaml not found/],
    ["a folder", { data, file: folder }, /EISDIR/],
    ["a file that is no YAML", { data, file: fileOf("memory: [") }, /settings\.yaml: /],
  ];
  for (const [fact, options, message] of refused)
    test(fact, () => assert.rejects(save("event", options), { name: "CommandError", message }));

  test("a setting that there is not, and one of another kind", async () => {
    const wrong = save("event", { data, file: fileOf("memry: 4Gi\nidleStopSeconds: soon\n") });
    await assert.rejects(wrong, { name: "CommandError", message: /idleStopSeconds: [\s\S]*memry/ });
  });
});

describe("help", () => {
  test("of the group names every command", async () => {
    const { out, code } = await runCommand(["template", "--help"]);
    assert.equal(code, 0);
    assert.deepEqual(
      [...out.matchAll(/^ {2}(\w+)(?: \[options\])?(?: <name>)? {2,}\S/gm)].map(([, name]) => name),
      ["list", "show", "save", "delete"],
    );
  });
  for (const name of ["list", "show", "save", "delete"])
    test(`of ${name} ends with an example of it`, async () => {
      const { out } = await runCommand(["template", name, "--help"]);
      assert.match(out, new RegExp(`\\nExample:\\n {2}npm run svc -- template ${name}\\b`));
    });
  test("of save says what an option does that is left out, and which words it takes", async () => {
    const { out } = await runCommand(["template", "save", "--help"]);
    const words = out.replaceAll(/\s+/g, " ");
    assert.match(words, /what is not given stays/);
    for (const policy of ["ownerOnly", "public", "allowlist"]) assert.match(words, new RegExp(`"${policy}"`));
  });
});

test("wrong usage exits with 2 and says what is missing", async () => {
  const missing = await runCommand(["template", "save"]);
  assert.deepEqual([missing.code, /missing required argument 'name'/.test(missing.error)], [2, true]);
  const policy = await runCommand(["template", "save", "event", "--policy", "everybody"]);
  assert.deepEqual([policy.code, /Allowed choices are ownerOnly/.test(policy.error)], [2, true]);
  const idle = await runCommand(["template", "save", "event", "--idle", "soon"]);
  assert.deepEqual([idle.code, /must be a whole number/.test(idle.error)], [2, true]);
});
