// kill -9 at every step of a synchronous change: the world and the audit log agree.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { killPoint } from "@svc/config/testing";
import { assertAudited, fileAudits } from "../testing/audit-assertions.ts";
import type { Fixture } from "../testing/fixture.ts";
import { asked, core, describeKillPoints, oldFiles, type StepVictims } from "../testing/kill-points.ts";
import { assertOnlyRetryable, createRetryingClient, retryUntil } from "../testing/retrying-client.ts";
import { readFiles } from "../testing/worlds.ts";

const changing: StepVictims[] = [
  { step: "the lock is taken", victims: asked },
  { step: "the change is admitted", victims: core },
  { step: "the Job is created", victims: asked },
  { step: "the lock is released", victims: [...core, "the agent"] },
  { step: "the change is settled", victims: core },
  { step: "the Job is removed", victims: core },
];

type Change = {
  action: string;
  place: string;
  method: string;
  json?: object;
  /** The response to a retry after the first try succeeded. */
  repeated: string;
  made: Record<string, string>;
  folder?: string;
  /** What the change makes beside: it is whole. */
  zip?: string;
};

const text = "two";
const changes: Change[] = [
  {
    action: "file.write",
    place: "file?path=level.dat",
    method: "PUT",
    json: {
      content: Buffer.from(text).toString("base64"),
      content_sha256: createHash("sha256").update(text).digest("hex"),
    },
    repeated: "200",
    made: { ...oldFiles, "level.dat": text },
  },
  {
    action: "file.delete",
    place: "file?path=level.dat",
    method: "DELETE",
    repeated: "404 not_found",
    made: { "mods/new.jar": "old", "mods/other.jar": "stays" },
  },
  {
    action: "file.rename",
    place: "files/rename?path=mods/new.jar",
    method: "POST",
    json: { to: "mods/newer.jar" },
    repeated: "404 not_found",
    made: { "level.dat": "one", "mods/newer.jar": "old", "mods/other.jar": "stays" },
  },
  {
    action: "file.mkdir",
    place: "files/mkdir?path=plugins",
    method: "POST",
    repeated: "409 file_exists",
    made: oldFiles,
    folder: "plugins",
  },
  {
    action: "file.archive",
    place: "files/archive?path=all.zip",
    method: "POST",
    json: { names: ["mods", "level.dat"] },
    repeated: "409 file_exists",
    made: oldFiles,
    zip: "all.zip",
  },
];

const victims = changing.flatMap((point) => point.victims);

describeKillPoints(
  "a change of a file",
  // Killing the replica itself is always tested.
  (count) => killPoint(victims[count] === "storage" ? 0 : 1, 2),
  ({ fixture, newServer, killAt, assertNothingLeft, table }) => {
    let turn = 0;
    table("every change is in the audit log with its outcome", changing, async (point) => {
      const change = changes[turn++ % changes.length];
      assert.ok(change);
      const { action, place, method, json, repeated, made, folder, zip } = change;
      const server = await newServer(oldFiles);
      const client = createRetryingClient(fixture());
      const ask = () =>
        retryUntil(client, action, async () => {
          const answer = await client.ask(`/api/v1/servers/${server}/${place}`, { method, json });
          if (!answer) return undefined;
          const { code = "" } = (answer.body["error"] ?? {}) as { code?: string };
          return `${answer.status} ${code}`.trim();
        });
      await killAt({ ...point, client }, async () => {
        const received = await ask();
        assert.ok(received === "200" || received === repeated, received);
      });
      const world = fixture().worldDir(server);
      if (zip !== undefined) {
        execFileSync("unzip", ["-tq", join(world, zip)]);
        rmSync(join(world, zip));
      }
      assert.deepEqual(readFiles(world), made);
      if (folder !== undefined) assert.ok(existsSync(join(world, folder)));
      await assertNothingLeft(server);
      await assertAudited(fixture().base, { server, action, isChanged: true });
      if (action === "file.write") await assertKept(fixture().base, server);
      assertOnlyRetryable(client, new RegExp(`^${repeated}$`));
    });
  },
);

/** What the file was is kept once when the log has every end; it cannot be known of a Job that died. */
async function assertKept(base: Pick<Fixture, "database" | "audits">, server: string): Promise<void> {
  const outcomes = (await fileAudits(base, server)).map(({ payload }) => payload["outcome"]);
  const rows = await base.database.admin(
    "select convert_from(content, 'UTF8') as text from storage.file_versions where server_name = $1",
    [server],
  );
  const texts = (rows as { text: string }[]).map((row) => row.text);
  if (outcomes.includes("unknown") && texts.length === 0) return;
  assert.deepEqual(texts, ["one"], outcomes.join());
}
