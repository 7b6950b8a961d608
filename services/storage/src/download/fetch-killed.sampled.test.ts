// kill -9 at every step of a fetch from an address.

import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { after, before } from "node:test";
import { killPoint } from "@svc/config/testing";
import type { files } from "@svc/proto";
import { assertAudited } from "../testing/audit-assertions.ts";
import {
  all,
  asked,
  core,
  describeKillPoints,
  ended,
  oldFiles,
  type StepVictims,
} from "../testing/kill-points.ts";
import { assertOnlyRetryable, createRetryingClient, retryUntil } from "../testing/retrying-client.ts";
import { openSourceServer, type SourceServer } from "../testing/source-server.ts";
import { readFiles } from "../testing/worlds.ts";

type Op = files.FileOp;
const fetching: StepVictims[] = [
  { step: "the session is written", victims: asked },
  { step: "the session is counted", victims: core },
  { step: "the change is admitted", victims: asked },
  { step: "the operation is written", victims: core },
  { step: "the writer's lease is taken", victims: core },
  { step: "bytes of a part are written", victims: core },
  { step: "a part is synced", victims: core },
  { step: "the token is written", victims: core },
  { step: "the lock is taken", victims: core },
  { step: "the Job is created", victims: core },
  { step: "the lock is released", victims: core },
  { step: { method: "GET", direction: "up", bytes: 1 }, victims: all },
  { step: "the token is spent", victims: all },
  { step: { method: "GET", direction: "down", bytes: 200_000 }, victims: all },
  { step: "the session is removed", victims: all },
  { step: "the operation is ended", victims: core },
  { step: "the change is settled", victims: core },
];

const content = randomBytes(900_000);
const sha256 = createHash("sha256").update(content).digest("hex");

/** Without what the next change of the world removes. */
const visible = (tree: Record<string, string>) =>
  Object.fromEntries(Object.entries(tree).filter(([path]) => !path.startsWith(".svc-")));

let source: SourceServer;
before(async () => {
  source = await openSourceServer();
  source.put("/new.jar", content);
});
after(() => source?.close());

describeKillPoints("a fetch", (count) => killPoint(count, 23), {
  settings: () => [`storage.fetch_from=["${source.origin}"]`],
  fill: ({ fixture, newServer, killAt, assertNothingLeft, table }) => {
    table("the file is there as a whole, at the latest after a second try", fetching, async (point) => {
      const server = await newServer(oldFiles);
      const client = createRetryingClient(fixture());
      const whole = { ...oldFiles, "mods/new.jar": content.toString("utf8") };
      const json = { url: `${source.origin}/new.jar`, sha256, overwrite: true };
      const fetchOnce = () =>
        retryUntil(client, "the fetch", async () => {
          const place = `/api/v1/servers/${server}/files/fetch?path=mods/new.jar`;
          const answer = await client.ask(place, { method: "POST", json });
          if (answer?.status !== 202) return undefined;
          return ended(client, server, (answer.body["op"] as Op).id);
        });
      await killAt({ ...point, client }, async () => {
        await retryUntil(client, "the file", async () => {
          const op = await fetchOnce();
          if (op !== "unknown" && op.state === "succeeded") return true;
          const now = visible(readFiles(fixture().worldDir(server)));
          assert.ok([oldFiles, whole].some((tree) => JSON.stringify(tree) === JSON.stringify(now)));
          return undefined;
        });
      });
      assert.deepEqual(readFiles(fixture().worldDir(server)), whole);
      // Those of a process that died count until they expire.
      assertOnlyRetryable(client, /^429 too_many_uploads$/);
      await assertNothingLeft(server);
      await assertAudited(fixture().base, { server, action: "file.fetch", isChanged: true });
    });
  },
});
