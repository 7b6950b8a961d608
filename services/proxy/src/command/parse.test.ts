import assert from "node:assert/strict";
import { test } from "node:test";
import { type Command, isActing, parseCommand } from "./parse.ts";

const rows: [string, Command | undefined][] = [
  ["link", { name: "link" }],
  ["/LINK  now", { name: "link" }],
  ["felis", { name: "status" }],
  ["felis list", { name: "list" }],
  ["felis server", { name: "list" }],
  ["felis HELP", { name: "help" }],
  ["felis lobby", { name: "lobby" }],
  ["felis claim", { name: "claim" }],
  ["felis migrate", { name: "migrate" }],
  ["felis web", { name: "web" }],
  ["felis go Survival", { name: "go", server: "survival" }],
  ["felis go", { name: "usage" }],
  ["felis constructor", { name: "usage" }],
  ["felis web op approve Ab12", { name: "approve", id: "Ab12", account: undefined }],
  ["felis web op approve Ab12 Alice", { name: "approve", id: "Ab12", account: "Alice" }],
  ["felis web op deny x", { name: "usage" }],
  ["invite", { name: "inviteUsage" }],
  ["invite bob", { name: "invite", player: "bob" }],
  ["invite accept 7f", { name: "acceptInvite", id: "7f" }],
  ["invite accept", { name: "invite", player: "accept" }],
  ["server lobby", undefined],
  ["say /link", undefined],
  ["", undefined],
];
for (const [line, command] of rows) {
  test(`${JSON.stringify(line)} is ${command ? JSON.stringify(command) : "the server's own"}`, () => {
    assert.deepEqual(parseCommand(line), command);
  });
}

test("commands that only show something cost no budget, others do", () => {
  const free = rows.flatMap(([, command]) => (command && !isActing(command) ? [command.name] : []));
  assert.deepEqual(new Set(free), new Set(["status", "list", "help", "web", "usage", "inviteUsage"]));
});
