// kill -9 of whatever takes part, at every step of an upload, an extraction and a download: afterwards the world is what
// it was or what it was to be, bit for bit; nothing stays locked, staged, running or half told; and a second try works.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { gunzipSync } from "node:zlib";
import { killPoint } from "@svc/config/testing";
import { until } from "@svc/mesh/testing";
import type { exports, files, uploads } from "@svc/proto";
import { makeZip } from "../../../../libs/world/src/testing/zip.ts";
import { assertForgivable, createPatientClient, insist, type PatientClient } from "../testing/patient.ts";
import { openTransferBed, type Step, type TransferBed, type Victim } from "../testing/transfers.ts";
import { readFiles } from "../testing/worlds.ts";

type Point = { step: Step; victims: readonly Victim[] };
type Death = { step: Step; victim: Victim; client: PatientClient };

const core = ["storage", "NATS"] as const;
const asked = [...core, "the external gateway"] as const;
const all = [...core, "the internal gateway", "the agent"] as const;

const uploading: Point[] = [
  { step: "the session is written", victims: asked },
  { step: "the session is counted", victims: core },
  { step: "the writer's place is taken", victims: asked },
  { step: "bytes of a part are written", victims: asked },
  { step: "a part is synced", victims: core },
  { step: "the part is added", victims: asked },
  { step: "the lock is taken", victims: asked },
  { step: "the operation is written", victims: core },
  { step: "the token is written", victims: core },
  { step: "the Job is made", victims: core },
  { step: "the operation has its Job", victims: core },
  { step: "the lock is given back", victims: core },
  { step: { method: "GET", direction: "up", bytes: 1 }, victims: all },
  { step: "the token is spent", victims: all },
  { step: { method: "GET", direction: "down", bytes: 200_000 }, victims: all },
  { step: { method: "DELETE", direction: "up", bytes: 1 }, victims: all },
  { step: "the session is forgotten", victims: all },
  { step: "the staged bytes are removed", victims: core },
  { step: "the operation is ended", victims: core },
];

const sending: Point[] = [
  { step: "the session is written", victims: asked },
  { step: "bytes of a part are written", victims: asked },
  { step: "the token is written", victims: asked },
  { step: "the lock is taken", victims: core },
  { step: "the Job is made", victims: asked },
  { step: "the lock is given back", victims: core },
  { step: "the token is spent", victims: all },
  { step: { method: "GET", direction: "down", bytes: 200_000 }, victims: [...all, "the external gateway"] },
  { step: { method: "DELETE", direction: "up", bytes: 1 }, victims: all },
  { step: "the session is forgotten", victims: all },
];

const extracting: Point[] = [
  { step: "the lock is taken", victims: asked },
  { step: "the operation is written", victims: core },
  { step: "the Job is made", victims: core },
  { step: "the operation has its Job", victims: core },
  { step: "the lock is given back", victims: core },
  { step: "the operation is ended", victims: core },
];

const downloading: Point[] = [
  { step: "the lock is taken", victims: asked },
  { step: "the ticket is written", victims: asked },
  { step: "the person's downloads are counted", victims: core },
  { step: "all downloads are counted", victims: core },
  { step: "the row is written", victims: ["storage", "NATS", "PostgreSQL"] },
  { step: "the Job is made", victims: ["storage", "NATS", "PostgreSQL"] },
  { step: "the lock is given back", victims: core },
  { step: { method: "PUT", direction: "up", bytes: 1 }, victims: all },
  { step: "the ticket is ready", victims: all },
  { step: "the ticket is streaming", victims: [...asked, "the internal gateway", "the agent"] },
  { step: { method: "PUT", direction: "up", bytes: 4_000_000 }, victims: [...all, "the external gateway"] },
  { step: { method: "PUT", direction: "down", bytes: 1 }, victims: all },
  { step: "the ticket is spent", victims: all },
];

const never = /(?!)/;
const nameOf = (step: Step) =>
  typeof step === "string"
    ? step
    : `${step.bytes} bytes of a Job's ${step.method} have gone ${step.direction}`;

describe("kill -9 in the middle of a transfer", () => {
  let bed: TransferBed;
  before(async () => {
    bed = await openTransferBed();
  });
  after(() => bed?.close());

  let servers = 0;
  /** A server of its own for each point, so that nothing of the one before counts. */
  async function newServer(files: Record<string, string>): Promise<string> {
    const name = `dies-${servers++}`;
    await bed.stage.addServer(name, "usr-1", files);
    return name;
  }

  /** Runs it with the death in the middle. */
  async function dieAt({ step, victim, client }: Death, work: () => Promise<void>): Promise<void> {
    const reached = bed.stopAt(step).then(() => "reached" as const);
    const mended = reached.then(async () => {
      await bed.kill(victim);
      bed.goOn();
      if (victim === "storage") client.hurry();
      await bed.mend();
    });
    const done = work();
    done.catch(() => {});
    mended.catch(() => {});
    // Some steps come about behind the last answer.
    const missed = done.then(() => delay(5_000, "missed" as const, { ref: false }));
    assert.equal(await Promise.race([reached, missed]), "reached", "the step came about");
    await Promise.all([done, mended]);
  }

  /** Nothing is left that anybody would have to clear up or wait for. */
  async function assertAtRest(server: string): Promise<void> {
    await until(() => bed.isFree(server), 10_000);
    await until(() => readdirSync(bed.stagingDir).length === 0, 40_000);
    const hidden = readdirSync(bed.worldDir(server)).filter((name) => name.startsWith(".svc-"));
    assert.deepEqual(hidden, []);
  }

  let count = 0;
  function table(
    what: string,
    points: readonly Point[],
    drive: (point: { step: Step; victim: Victim }) => Promise<void>,
  ) {
    for (const { step, victims } of points) {
      for (const victim of victims) {
        test(`${victim} dies when ${nameOf(step)}: ${what}`, killPoint(count, 61), () =>
          drive({ step, victim }),
        );
        count += 1;
      }
    }
  }

  type Op = files.FileOp;
  /** The operation when it has ended; undefined when it is unknown. */
  async function ended(client: PatientClient, server: string, id: string): Promise<Op | "unknown"> {
    return insist(client, "the end of the operation", async () => {
      const answer = await client.ask(`/api/v1/servers/${server}/files/ops`);
      if (!answer) return undefined;
      const op = (answer.body["ops"] as Op[]).find((one) => one.id === id);
      if (!op) return "unknown";
      return op.state === "running" ? undefined : op;
    });
  }

  const content = randomBytes(1_500_000);
  const partBytes = 900_000;
  const old = { "level.dat": "one", "mods/new.jar": "old", "mods/other.jar": "stays" };

  /** Sends what is missing and commits, as often as it takes. */
  async function uploadAll(client: PatientClient, server: string): Promise<void> {
    const base = `/api/v1/servers/${server}/files/uploads`;
    const about = { method: "POST", json: { size: content.length } };
    const begin = async () =>
      (await client.ask(`${base}?path=mods/new.jar`, about))?.body as uploads.FileUploadSession;
    let { id } = await insist(client, "the session", begin);
    await insist(client, "the upload", async () => {
      const now = await client.ask(`${base}/${id}`);
      if (now?.status === 404) {
        if (isLanded(server)) return true;
        ({ id } = await insist(client, "another session", begin));
      }
      if (now?.status !== 200) return undefined;
      const { received } = now.body as uploads.FileUploadSession;
      if (received < content.length) {
        const bytes = content.subarray(received, received + partBytes);
        await client.ask(`${base}/${id}?offset=${received}`, { method: "PUT", bytes });
        return undefined;
      }
      const commit = await client.ask(`${base}/${id}/commit`, { method: "POST", json: { overwrite: true } });
      if (commit?.status !== 202) return undefined;
      const op = await ended(client, server, (commit.body["op"] as Op).id);
      return op !== "unknown" && op.state === "succeeded" ? true : undefined;
    });
  }
  const isLanded = (server: string) =>
    readFileSync(join(bed.worldDir(server), "mods/new.jar")).equals(content);

  table("the upload lands whole, at the latest when it is committed again", uploading, async (point) => {
    const server = await newServer(old);
    const client = createPatientClient(bed);
    const whole = { ...old, "mods/new.jar": content.toString("utf8") };
    await dieAt({ ...point, client }, () => uploadAll(client, server));
    assert.deepEqual(readFiles(bed.worldDir(server)), whole);
    assertForgivable(client, /^(404 upload_not_found|409 upload_offset_mismatch)$/);
    await assertAtRest(server);
  });

  table(
    "a file sent in one request lands whole, at the latest when it is sent again",
    sending,
    async (point) => {
      const server = await newServer(old);
      const client = createPatientClient(bed);
      const place = `/api/v1/servers/${server}/files/upload?path=mods/new.jar&overwrite=true`;
      const send = async () => {
        const answer = await client.ask(place, { method: "PUT", bytes: content });
        return answer?.status === 200 ? true : undefined;
      };
      await dieAt({ ...point, client }, async () => void (await insist(client, "the upload", send)));
      assert.deepEqual(readFiles(bed.worldDir(server)), { ...old, "mods/new.jar": content.toString("utf8") });
      // A Job that ends without a word is nobody's fault but ours (behaviour.md h.7).
      assertForgivable(client, point.victim === "the agent" ? /^500 internal$/ : never);
      await assertAtRest(server);
    },
  );

  const zip = makeZip([
    { name: "mods/new.jar", content: "new" },
    { name: "mods/more.jar", content: "more" },
  ]);
  table("the zip is extracted whole or not at all", extracting, async (point) => {
    const server = await newServer(old);
    writeFileSync(join(bed.worldDir(server), "pack.zip"), zip);
    const before = readFiles(bed.worldDir(server));
    const client = createPatientClient(bed);
    const extract = () =>
      insist(client, "the extraction", async () => {
        const about = { method: "POST", json: { overwrite: true } };
        const answer = await client.ask(`/api/v1/servers/${server}/files/unzip?path=pack.zip`, about);
        if (answer?.status !== 202) return undefined;
        return ended(client, server, (answer.body["op"] as Op).id);
      });
    await dieAt({ ...point, client }, async () => {
      let op = await extract();
      if (op === "unknown" || op.state === "failed") {
        assert.ok(op === "unknown" || op.error?.code === "job_failed", JSON.stringify(op));
        assert.deepEqual(readFiles(bed.worldDir(server)), before);
        op = await extract();
      }
      assert.ok(op !== "unknown" && op.state === "succeeded", JSON.stringify(op));
    });
    const made = { ...before, "mods/new.jar": "new", "mods/more.jar": "more" };
    assert.deepEqual(readFiles(bed.worldDir(server)), made);
    assertForgivable(client, never);
    await assertAtRest(server);
  });

  const region = randomBytes(6_000_000);
  /** The bytes of one download that went well; undefined when another one is needed. */
  async function downloadOnce(client: PatientClient, server: string): Promise<Buffer | undefined> {
    const started = await client.ask(`/api/v1/servers/${server}/world/export`, { method: "POST" });
    if (started?.status !== 202) return undefined;
    const { ticket } = started.body as exports.ExportTicket;
    const state = await insist(client, "the download", async () => {
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

  table("what ends without a break is the whole world", downloading, async (point) => {
    const server = await newServer({ "level.dat": "one" });
    writeFileSync(join(bed.worldDir(server), "r.0.0.mca"), region);
    const before = readFiles(bed.worldDir(server));
    const client = createPatientClient(bed);
    const got: Buffer[] = [];
    await dieAt({ ...point, client }, async () => {
      got.push(await insist(client, "a whole download", () => downloadOnce(client, server)));
    });
    for (const bytes of got) assert.ok(gunzipSync(bytes).includes(region));
    assertForgivable(client, /^(410 export_expired|404 not_found)$/);
    assert.deepEqual(readFiles(bed.worldDir(server)), before);
    await assertAtRest(server);
  });
});
