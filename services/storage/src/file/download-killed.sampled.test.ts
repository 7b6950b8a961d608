// kill -9 at every step of a download.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { killPoint } from "@svc/config/testing";
import type { exports } from "@svc/proto";
import { all, asked, core, describeKillPoints, type StepVictims } from "../testing/kill-points.ts";
import {
  assertOnlyRetryable,
  createRetryingClient,
  type RetryingClient,
  retryUntil,
} from "../testing/retrying-client.ts";
import { readFiles } from "../testing/worlds.ts";

const downloading: StepVictims[] = [
  { step: "the lock is taken", victims: asked },
  { step: "the ticket is written", victims: asked },
  { step: "the user's downloads are counted", victims: core },
  { step: "all downloads are counted", victims: core },
  { step: "the row is written", victims: core },
  { step: "the Job is created", victims: core },
  { step: "the lock is released", victims: core },
  { step: { method: "PUT", direction: "up", bytes: 1 }, victims: all },
  { step: "the ticket is ready", victims: all },
  { step: "the ticket is streaming", victims: [...asked, "the internal gateway", "the agent"] },
  { step: { method: "PUT", direction: "up", bytes: 4_000_000 }, victims: [...all, "the external gateway"] },
  { step: { method: "PUT", direction: "down", bytes: 1 }, victims: all },
  { step: "the ticket is spent", victims: all },
];

describeKillPoints(
  "a download",
  (count) => killPoint(count, 37),
  ({ fixture, newServer, killAt, assertNothingLeft, table }) => {
    const region = randomBytes(6_000_000);
    /** The bytes of one complete download; undefined when it has to be repeated. */
    async function downloadOnce(client: RetryingClient, server: string): Promise<Buffer | undefined> {
      const started = await client.ask(`/api/v1/servers/${server}/world/export`, { method: "POST" });
      if (started?.status !== 202) return undefined;
      const { ticket } = started.body as exports.ExportTicket;
      const state = await retryUntil(client, "the download", async () => {
        const answer = await client.ask(`/api/v1/exports/${ticket}`);
        if (!answer) return undefined;
        if (answer.status !== 200) return "gone";
        const { state } = answer.body as { state: string };
        return state === "pending" ? undefined : state;
      });
      if (state !== "ready") return undefined;
      const answer = await client.ask(`/api/v1/exports/${ticket}/download`);
      return answer?.status === 200 ? answer.bytes : undefined;
    }

    table(
      "a download that ends without a broken connection is the whole world",
      downloading,
      async (point) => {
        const server = await newServer({ "level.dat": "one" });
        writeFileSync(join(fixture().worldDir(server), "r.0.0.mca"), region);
        const before = readFiles(fixture().worldDir(server));
        const client = createRetryingClient(fixture());
        const got: Buffer[] = [];
        await killAt({ ...point, client }, async () => {
          got.push(await retryUntil(client, "a whole download", () => downloadOnce(client, server)));
        });
        for (const bytes of got) assert.ok(gunzipSync(bytes).includes(region));
        assertOnlyRetryable(client, /^(410 export_expired|404 not_found)$/);
        assert.deepEqual(readFiles(fixture().worldDir(server)), before);
        await assertNothingLeft(server);
      },
    );
  },
);
