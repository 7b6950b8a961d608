import assert from "node:assert/strict";
import { test } from "node:test";
import { historyOf } from "./history.ts";

test("a change of files is in the history once, and what other events say is not repeated", () => {
  let sequence = 0;
  const event = (subject: string, data: object) => ({
    ...{ subject: `svc.evt.${subject}.anvil`, sequence: ++sequence, data },
    at: `2026-11-28T16:00:0${9 - sequence}.000Z`,
  });
  const changed = (facts: object) => event("storage.world.changed", { server_name: "anvil", ...facts });
  const events = [
    event("storage.backup.made", { server_name: "anvil", id: "bk-1" }),
    changed({ type: "backup" }),
    changed({ type: "job" }),
    changed({ type: "file", ended: true }),
    changed({ type: "file" }),
    event("lifecycle.server.created", { name: "anvil" }),
    event("lifecycle.server.created", { name: "other" }),
  ];
  assert.deepEqual(
    historyOf(events, "anvil").map(({ subject }) => subject),
    ["lifecycle.server.created", "storage.world.changed", "storage.backup.made"].map(
      (subject) => `svc.evt.${subject}.anvil`,
    ),
  );
});
