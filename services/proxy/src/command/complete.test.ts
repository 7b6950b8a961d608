import assert from "node:assert/strict";
import { test } from "node:test";
import { patience } from "@svc/local-stack/testing";
import { rootDomain, runningAt, startFixture } from "../testing/fixture.ts";
import { commandTree } from "./complete.ts";
import { parseCommand } from "./parse.ts";

test("every command that is completed is one that the proxy runs", () => {
  const lines = commandTree.flatMap(({ name, isComplete, next = [] }) => [
    ...(isComplete ? [name] : []),
    ...next.flatMap((sub) => [
      ...(sub.isComplete ? [`${name} ${sub.name}`] : []),
      ...(sub.next ?? []).map((last) => `${name} ${sub.name} ${last.name}`),
    ]),
  ]);
  assert.equal(lines.length, 11);
  for (const line of lines) {
    const command = parseCommand(line);
    assert(command && command.name !== "usage" && command.name !== "inviteUsage", line);
  }
});

test("Tab completes our commands and the names of servers, and leaves the rest to the server", {
  timeout: 60_000 * patience,
}, async () => {
  await using fixture = await startFixture(
    {},
    {
      prepare: ({ service, survival }) => {
        for (const name of ["survival", "surfing"]) service.servers.set(name, runningAt(name, survival));
      },
    },
  );
  const alice = await fixture.passRaw(fixture.account("alice"), rootDomain);
  await fixture.lobby.player("alice");
  assert.deepEqual(await alice.complete("/felis "), [
    ...["claim", "go", "help", "list", "lobby", "migrate", "web"],
  ]);
  assert.deepEqual(await alice.complete("/Felis GO sur"), ["surfing", "survival"]);
  assert.deepEqual(await alice.complete("/felis go log"), []);
  assert.deepEqual(await alice.complete("/felis go survival "), []);
  const isRefused = async () => (await alice.complete("/felis ")).length === 0;
  let refusals = 0;
  for (let line = 0; line < 200; line++) if (await isRefused()) refusals += 1;
  assert.notEqual(refusals, 0, "a connection has a budget of completions");
});
