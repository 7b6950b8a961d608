// kill -9 at every step of an extraction.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { killPoint } from "@svc/config/testing";
import type { files } from "@svc/proto";
import { makeZip } from "../../../../libs/world/src/testing/zip.ts";
import { assertAudited } from "../testing/audit-assertions.ts";
import {
  asked,
  core,
  describeKillPoints,
  ended,
  noOtherAnswer,
  oldFiles,
  type StepVictims,
} from "../testing/kill-points.ts";
import { assertOnlyRetryable, createRetryingClient, retryUntil } from "../testing/retrying-client.ts";
import { readFiles } from "../testing/worlds.ts";

type Op = files.FileOp;
const extracting: StepVictims[] = [
  { step: "the lock is taken", victims: asked },
  { step: "the change is admitted", victims: core },
  { step: "the operation is written", victims: core },
  { step: "the Job is created", victims: core },
  { step: "the operation has its Job", victims: core },
  { step: "the lock is released", victims: core },
  { step: "the operation is ended", victims: core },
  { step: "the change is settled", victims: core },
];

describeKillPoints(
  "an extraction",
  (count) => killPoint(count, 13),
  ({ fixture, newServer, killAt, assertNothingLeft, table }) => {
    const zip = makeZip([
      { name: "mods/new.jar", content: "new" },
      { name: "mods/more.jar", content: "more" },
    ]);
    table("the zip is extracted completely or not at all", extracting, async (point) => {
      const server = await newServer(oldFiles);
      writeFileSync(join(fixture().worldDir(server), "pack.zip"), zip);
      const before = readFiles(fixture().worldDir(server));
      const client = createRetryingClient(fixture());
      const extract = () =>
        retryUntil(client, "the extraction", async () => {
          const about = { method: "POST", json: { overwrite: true } };
          const answer = await client.ask(`/api/v1/servers/${server}/files/unzip?path=pack.zip`, about);
          if (answer?.status !== 202) return undefined;
          return ended(client, server, (answer.body["op"] as Op).id);
        });
      await killAt({ ...point, client }, async () => {
        let op = await extract();
        if (op === "unknown" || op.state === "failed") {
          assert.ok(op === "unknown" || op.error?.code === "job_failed", JSON.stringify(op));
          assert.deepEqual(readFiles(fixture().worldDir(server)), before);
          op = await extract();
        }
        assert.ok(op !== "unknown" && op.state === "succeeded", JSON.stringify(op));
      });
      const made = { ...before, "mods/new.jar": "new", "mods/more.jar": "more" };
      assert.deepEqual(readFiles(fixture().worldDir(server)), made);
      assertOnlyRetryable(client, noOtherAnswer);
      await assertNothingLeft(server);
      await assertAudited(fixture().base, { server, action: "file.unzip", isChanged: true });
    });
  },
);
