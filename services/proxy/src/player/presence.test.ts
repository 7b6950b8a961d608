import assert from "node:assert/strict";
import { test } from "node:test";
import { createPresenceReports } from "./presence.ts";

test("an empty proxy reports until one report arrives, and again after players were there", async () => {
  const reported: number[] = [];
  const sessions = new Map<string, never>();
  let isDown = true;
  const presence = createPresenceReports({
    config: { onlineMode: true },
    sessions,
    proxyId: "proxy-1",
    api: {
      reportPlayers: async (_proxy: string, rows: readonly unknown[]) => {
        reported.push(rows.length);
        if (isDown) return { ok: false, status: 0 };
        return { ok: true, status: 200, value: { elsewhere: [], invitations: [] } };
      },
    },
  } as unknown as Parameters<typeof createPresenceReports>[0]);
  const report = async () => (presence.isNeeded() ? presence.run() : undefined);
  await report();
  isDown = false;
  for (let times = 0; times < 3; times++) await report();
  assert.deepEqual(reported, [0, 0]);
  sessions.set("steve", { id: "s", uuid: "u", name: "Steve", place: { kind: "none" } } as never);
  for (let times = 0; times < 2; times++) await report();
  sessions.clear();
  for (let times = 0; times < 2; times++) await report();
  assert.deepEqual(reported, [0, 0, 1, 1, 0]);
});
