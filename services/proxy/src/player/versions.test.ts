import assert from "node:assert/strict";
import { test } from "node:test";
import { createVersionReports } from "./versions.ts";

type Row = { mc_uuid: string; protocol: number };
const session = (uuid: string, protocol: number) => ({ uuid, bridge: { player: { version: { protocol } } } });

test("each session's version is told once, again after a failure, and never again after a refusal", async () => {
  const sessions = new Map<string, object>();
  const heard: Row[][] = [];
  let answer: object = { ok: false, status: 503 };
  const reports = createVersionReports({
    sessions,
    api: {
      reportVersions: async (rows: Row[]) => {
        heard.push(rows);
        return answer;
      },
    },
  } as unknown as Parameters<typeof createVersionReports>[0]);
  const turn = async (status: number) => {
    answer = { ok: status === 204, status };
    if (reports.isNeeded()) await reports.run();
    return heard.splice(0);
  };
  const [alice, bob] = [
    { mc_uuid: "alice", protocol: 767 },
    { mc_uuid: "bob", protocol: 769 },
  ];
  assert.deepEqual(await turn(204), []);
  sessions.set("alice", session("alice", 767));
  for (const status of [503, 0, 429]) assert.deepEqual(await turn(status), [[alice]]);
  sessions.set("bob", session("bob", 769));
  assert.deepEqual(await turn(204), [[alice, bob]]);
  assert.deepEqual(await turn(204), []);
  sessions.set("bob", session("bob", 775));
  assert.deepEqual(await turn(404), [[{ ...bob, protocol: 775 }]]);
  assert.deepEqual(await turn(204), []);
});
