// All that reads a backup reads a deduplicated one (docs/reference/backups.md#deduplicated). Restores, verifications and the
// off-site copy are in deduplicated.slow.test.ts.

import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { resources } from "@svc/kube";
import type { Mesh } from "@svc/mesh";
import { staff, until } from "@svc/mesh/testing";
import { backupKeeping, backups, clones, eventSubject, offsiteArchives, origins } from "@svc/proto";
import { lockedServers, maintenanceAnnotation } from "@svc/world-lock";
import { type FaceFixture, openFaceFixture } from "../testing/face-fixture.ts";
import { demoImage } from "../testing/fixture.ts";
import { addSet } from "../testing/stateful-set.ts";
import { namespace, readFiles, volumes } from "../testing/worlds.ts";

const name = "survival";
const region = randomBytes(400_000).toString("base64");
const files = { "level.dat": "one", "region/r.0.0.mca": region };

describe("readers of a deduplicated backup", () => {
  let fixture: FaceFixture;
  let operator: Mesh;
  let watchdog: Mesh;
  let id = "";
  before(async () => {
    fixture = await openFaceFixture();
    await fixture.start(["archive.deduplicate=true", "storage.export_sweep=200ms"]);
    operator = await fixture.base.nats.connect("operator");
    watchdog = await fixture.base.nats.connect("ops-watchdog");
    await fixture.base.addServer(name, "usr-1", { ...files, "level.dat": "zero" });
    await backUp();
    fixture.base.changeWorld(name, files);
    id = await backUp();
    assert.equal(ending(".tar.zst.chunks").length, 2);
  });
  after(async () => {
    await operator?.drain(500);
    await watchdog?.drain(500);
    await fixture?.close();
  });

  const ending = (end: string) => readdirSync(fixture.base.archiveDir).filter((file) => file.endsWith(end));
  const list = async () =>
    (await operator.call(backupKeeping.findBackups, { server: name, limit: 20, offset: 0 })).backups;

  async function backUp(): Promise<string> {
    const count = (await list()).length;
    await fixture.base.external.call(backups.create, { name }, staff);
    await until(async () => (await list()).length > count, 30_000);
    return (await list())[0]?.id ?? "";
  }

  async function download() {
    const started = await fixture.ask(`/api/v1/servers/${name}/backups/${id}/export`, { method: "POST" });
    assert.equal(started.status, 202, JSON.stringify(started.body));
    const path = `/api/v1/exports/${started.body["ticket"]}`;
    await until(async () => (await fixture.ask(path)).body["state"] !== "pending", 20_000);
    return fixture.ask(`${path}/download`);
  }

  test("its folders are listed", async () => {
    const top = await operator.call(backupKeeping.browseBackup, { id, path: "" });
    assert.deepEqual(top.entries.map((entry) => entry.name).sort(), ["level.dat", "region"]);
    const region = await operator.call(backupKeeping.browseBackup, { id, path: "region" });
    assert.deepEqual(
      region.entries.map((entry) => entry.name),
      ["r.0.0.mca"],
    );
  });

  test("a drill boots a server on its content", async () => {
    await addSet(fixture.base, name, demoImage);
    const { id: drill } = await operator.call(backupKeeping.startDrill, { name, backup_id: id });
    const read = () => operator.call(backupKeeping.readDrill, { id: drill });
    await until(async () => ["passed", "failed"].includes((await read()).state), 60_000);
    const { state, message } = await read();
    assert.equal(state, "passed", message);
  });

  test("a clone gets its world from it", async () => {
    const lock = "clone@2026-01-01T00:00:00.000Z";
    const { kube, lifecycleMesh, external } = fixture.base;
    const object = await kube.create(lockedServers, {
      apiVersion: "svc.internal/v1alpha1",
      kind: "MinecraftServer",
      metadata: { name: "twin", namespace, annotations: { [maintenanceAnnotation]: lock } },
      spec: {
        subdomain: "twin",
        image: "svc.local/nothing",
        desiredState: "Stopped",
        storage: { size: "1Gi" },
      },
    } as never);
    const status = { phase: "Stopped", observedGeneration: object.metadata.generation };
    const where = { name: "twin", namespace };
    await kube.patch(lockedServers, where, { merge: { status }, subresource: "status" });
    const at = new Date().toISOString();
    const data = { name: "twin", id: "id-twin", source: name, lock, by: "usr-staff", at, backup_id: id };
    const body = Buffer.from(JSON.stringify(data));
    await lifecycleMesh.publish([{ id: "cloned-twin", subject: eventSubject(clones.cloned, data), body }]);
    const state = async () =>
      (await external.call(origins.read, { name: "twin" }, staff).catch(() => undefined))?.origin?.state;
    await until(async () => (await state()) === "done", 60_000);
    const claim = await kube.get(resources.claims, { name: "world-twin-0", namespace });
    const volume = await kube.get(volumes, { name: claim.spec?.volumeName ?? "" });
    const { hostPath, local } =
      (volume as { spec?: Record<string, { path: string } | undefined> }).spec ?? {};
    assert.ok(readFiles((hostPath ?? local)?.path ?? "")["region/r.0.0.mca"] === region);
  });

  test("it is downloaded as one archive with the length and the digest that are recorded", async () => {
    const { items } = await watchdog.call(offsiteArchives.listArchives, {});
    const row = items.find((one) => one.id === id);
    const { bytes, headers } = await download();
    assert.equal(headers.get("content-length"), String(row?.size_bytes));
    assert.equal(createHash("sha256").update(bytes).digest("hex"), row?.sha256);
  });

  test("a download of damaged content is cut short, and the backup is marked corrupt", async () => {
    const sizeOf = (file: string) => readFileSync(join(fixture.base.archiveDir, file)).length;
    const [pack = ""] = ending(".pack").sort((one, other) => sizeOf(other) - sizeOf(one));
    const bytes = readFileSync(join(fixture.base.archiveDir, pack));
    bytes.writeUInt8(bytes.readUInt8(bytes.length >> 1) ^ 1, bytes.length >> 1);
    writeFileSync(join(fixture.base.archiveDir, pack), bytes);
    const answer = await download().catch(() => undefined);
    const row = async () => (await list()).find((one) => one.id === id);
    assert.ok(!answer || answer.bytes.length < ((await row())?.size_bytes ?? 0));
    await until(async () => (await row())?.corrupt === true);
  });
});
