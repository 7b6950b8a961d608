// kill -9 at every step of an upload in parts.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { killPoint } from "@svc/config/testing";
import type { files, uploads } from "@svc/proto";
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
import {
  assertOnlyRetryable,
  createRetryingClient,
  type RetryingClient,
  retryUntil,
} from "../testing/retrying-client.ts";
import { readFiles } from "../testing/worlds.ts";

type Op = files.FileOp;

const uploading: StepVictims[] = [
  { step: "the session is written", victims: asked },
  { step: "the session is counted", victims: core },
  { step: "the writer's lease is taken", victims: asked },
  { step: "bytes of a part are written", victims: asked },
  { step: "a part is synced", victims: core },
  { step: "the part is added", victims: asked },
  { step: "the lock is taken", victims: asked },
  { step: "the change is admitted", victims: core },
  { step: "the operation is written", victims: core },
  { step: "the token is written", victims: core },
  { step: "the Job is created", victims: core },
  { step: "the operation has its Job", victims: core },
  { step: "the lock is released", victims: core },
  { step: { method: "GET", direction: "up", bytes: 1 }, victims: all },
  { step: "the token is spent", victims: all },
  { step: { method: "GET", direction: "down", bytes: 200_000 }, victims: all },
  { step: { method: "DELETE", direction: "up", bytes: 1 }, victims: all },
  { step: "the session is removed", victims: all },
  { step: "the staged bytes are removed", victims: core },
  { step: "the operation is ended", victims: core },
  { step: "the change is settled", victims: core },
];

describeKillPoints(
  "an upload",
  (count) => killPoint(count, 41),
  ({ fixture, newServer, killAt, assertNothingLeft, table }) => {
    const content = randomBytes(1_500_000);
    const partBytes = 900_000;

    /** Sends the missing parts and commits, until it succeeds. */
    async function uploadAll(client: RetryingClient, server: string): Promise<void> {
      const base = `/api/v1/servers/${server}/files/uploads`;
      const about = { method: "POST", json: { size: content.length } };
      const begin = async () =>
        (await client.ask(`${base}?path=mods/new.jar`, about))?.body as uploads.FileUploadSession;
      let { id } = await retryUntil(client, "the session", begin);
      await retryUntil(client, "the upload", async () => {
        const now = await client.ask(`${base}/${id}`);
        if (now?.status === 404) {
          if (isLanded(server)) return true;
          ({ id } = await retryUntil(client, "another session", begin));
        }
        if (now?.status !== 200) return undefined;
        const { received } = now.body as uploads.FileUploadSession;
        if (received < content.length) {
          const bytes = content.subarray(received, received + partBytes);
          await client.ask(`${base}/${id}?offset=${received}`, { method: "PUT", bytes });
          return undefined;
        }
        const commit = await client.ask(`${base}/${id}/commit`, {
          method: "POST",
          json: { overwrite: true },
        });
        if (commit?.status !== 202) return undefined;
        const op = await ended(client, server, (commit.body["op"] as Op).id);
        return op !== "unknown" && op.state === "succeeded" ? true : undefined;
      });
    }
    const isLanded = (server: string) =>
      readFileSync(join(fixture().worldDir(server), "mods/new.jar")).equals(content);

    table(
      "the upload is complete in the world, at the latest after a second commit",
      uploading,
      async (point) => {
        const server = await newServer(oldFiles);
        const client = createRetryingClient(fixture());
        const whole = { ...oldFiles, "mods/new.jar": content.toString("utf8") };
        await killAt({ ...point, client }, () => uploadAll(client, server));
        assert.deepEqual(readFiles(fixture().worldDir(server)), whole);
        assertOnlyRetryable(client, /^(404 upload_not_found|409 upload_offset_mismatch)$/);
        await assertNothingLeft(server);
        await assertAudited(fixture().base, { server, action: "file.upload", isChanged: true });
      },
    );
  },
);
