// kill -9 at every step of an upload in one request.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { killPoint } from "@svc/config/testing";
import { assertAudited } from "../testing/audit-assertions.ts";
import {
  all,
  asked,
  core,
  describeKillPoints,
  noOtherAnswer,
  oldFiles,
  type StepVictims,
} from "../testing/kill-points.ts";
import { assertOnlyRetryable, createRetryingClient, retryUntil } from "../testing/retrying-client.ts";
import { readFiles } from "../testing/worlds.ts";

const sending: StepVictims[] = [
  { step: "the session is written", victims: asked },
  { step: "bytes of a part are written", victims: asked },
  { step: "the token is written", victims: asked },
  { step: "the lock is taken", victims: core },
  { step: "the change is admitted", victims: core },
  { step: "the Job is created", victims: asked },
  { step: "the lock is released", victims: core },
  { step: "the token is spent", victims: all },
  { step: { method: "GET", direction: "down", bytes: 200_000 }, victims: [...all, "the external gateway"] },
  { step: { method: "DELETE", direction: "up", bytes: 1 }, victims: all },
  { step: "the session is removed", victims: all },
  { step: "the change is settled", victims: core },
];

describeKillPoints(
  "an upload in one request",
  (count) => killPoint(count, 29),
  ({ newServer, fixture, killAt, assertNothingLeft, table }) => {
    const content = randomBytes(1_500_000);
    table(
      "a file uploaded in one request is complete in the world, at the latest after a retry",
      sending,
      async (point) => {
        const server = await newServer(oldFiles);
        const client = createRetryingClient(fixture());
        const place = `/api/v1/servers/${server}/files/upload?path=mods/new.jar&overwrite=true`;
        const send = async () => {
          const answer = await client.ask(place, { method: "PUT", bytes: content });
          return answer?.status === 200 ? true : undefined;
        };
        await killAt({ ...point, client }, async () => void (await retryUntil(client, "the upload", send)));
        assert.deepEqual(readFiles(fixture().worldDir(server)), {
          ...oldFiles,
          "mods/new.jar": content.toString("utf8"),
        });
        assertOnlyRetryable(client, noOtherAnswer);
        await assertNothingLeft(server);
        await assertAudited(fixture().base, { server, action: "file.upload", isChanged: true });
      },
    );
  },
);
