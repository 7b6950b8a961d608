import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { up } from "./stack/up.ts";
import { readStackFile } from "./stack-file.ts";

const data = mkdtempSync(join(tmpdir(), "svc-stack-file-"));
after(() => rmSync(data, { recursive: true }));

test("without a running stack the message says how to start one on this folder", () => {
  assert.throws(() => readStackFile(join(data, "nowhere")), {
    name: "CommandError",
    message: new RegExp(
      `^no stack is running on ${data}/nowhere; start one with: npm run up -- --data ${data}/nowhere`,
    ),
  });
});

test("the file of a running stack is read", () => {
  writeFileSync(join(data, "stack.json"), '{"root_domain":"svc.localhost"}');
  assert.equal(readStackFile(data).root_domain, "svc.localhost");
});

describe("a stack is not started with", () => {
  const cases: [what: string, options: object, message: RegExp][] = [
    ["replicas of an unknown service", { replicas: ["nothing=2"] }, /--replicas nothing=2: write SERVICE=N/],
    ["no number of replicas", { replicas: ["storage=many"] }, /--replicas storage=many/],
    ["a setting without a value", { set: ["smtp.port"] }, /write it as section\.key=value/],
    ["a service that does not exist", { only: ["nothing"] }, /nothing/],
  ];
  for (const [what, options, message] of cases)
    test(what, () => assert.rejects(up({ data, ports: "auto", ...options }), message));
});
