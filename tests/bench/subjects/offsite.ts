// Storage with its archives, a database, a mesh, and a bucket that has sealed copies: what a pass of ops-watchdog needs.

import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { loadSettings } from "@svc/config";
import { startPostgres } from "@svc/local-stack";
import { startTestNats } from "@svc/mesh/testing";
import { type ObjectStoreOptions, openObjectStore } from "@svc/object-store";
import { bytesOf, createSealedBody, generateKey } from "@svc/sealed";
import { migrateUp, openStore } from "@svc/store";
import { createLogger } from "@svc/telemetry";
import { Folder, storeArchive } from "@svc/world";
import { sql } from "kysely";
import { startTestCluster } from "../../../services/lifecycle/src/testing/fixture.ts";
import { keyOfArchive } from "../../../services/ops-watchdog/src/offsite/object-key.ts";
import { ownedSchemas } from "../../../services/ops-watchdog/src/restore/schemas.ts";
import { serveBuilds } from "../../../services/ops-watchdog/src/testing/builds-stub.ts";
import { settings as storageSchema } from "../../../services/storage/src/config.ts";
import type { Tables } from "../../../services/storage/src/database/tables.ts";
import { serveOffsite } from "../../../services/storage/src/offsite/serve.ts";
import { runSql } from "../harness/anchors.ts";
import { need, serveParent } from "../harness/parent.ts";
import { packedArchives } from "./packed-archives.ts";

const dir = mkdtempSync(join(need("SVC_BENCH_DIR"), "offsite-"));
const archives = join(dir, "archives");
mkdirSync(archives);
const postgres = await startPostgres({ dataDir: join(dir, "postgres"), password: "bench" });
process.once("exit", () => rmSync(dir, { recursive: true, force: true }));
for (const { name, migrations } of ownedSchemas())
  await migrateUp(postgres.url, { schema: name, rolePassword: "bench", migrations });
// Without accounts a database looks lost, and nothing would be judged.
await runSql(
  postgres.url,
  `insert into identity.users (id, username, role, created_at, updated_at)
   select 'usr-' || n, 'user-' || n, 'owner', now(), now() from generate_series(1, 10) n`,
);
const log = createLogger("storage", "silent");
const { db } = openStore<Tables>({ url: postgres.url, schema: "storage", poolSize: 4, log });
const [nats, cluster] = await Promise.all([startTestNats(), startTestCluster({ nodes: 0 })]);
const [storage, builds] = await Promise.all([nats.connect("storage"), nats.connect("builds")]);
const settings = loadSettings(storageSchema, { overrides: [`archive.local_path=${archives}`] });
serveOffsite(storage, { db, settings, now: Date.now, byteTransfers: storage.byteTransfers });
serveBuilds(builds);
await Promise.all([storage.announce(), builds.announce()]);
const key = generateKey();

/** One archive of random bytes; its name in the folder, size and digest. */
async function makeArchive(name: string, bytes: number) {
  const world = join(dir, "world");
  mkdirSync(world);
  for (let at = 0; at < bytes; at += 1 << 24)
    writeFileSync(join(world, `region-${at}`), randomBytes(Math.min(1 << 24, bytes - at)));
  await using folder = await Folder.openRoot(world);
  await using store = await Folder.openRoot(archives);
  const { sizeBytes, sha256 } = await storeArchive({ world: folder, store, name, keepFree: 0 });
  rmSync(world, { recursive: true });
  return { sizeBytes, sha256 };
}

type Row = { sizeBytes: number; sha256: string };

/** Rows `bk-<n>` of archives `bench-<n>.tar.zst`. */
async function addRows(
  { sizeBytes, sha256 }: Row,
  { from, to, isCopied }: { from: number; to: number; isCopied: boolean },
) {
  await sql`insert into world_backups
      (id, server_name, backup_ref, size_bytes, reason, created_at, expires_at, sha256, offsite_at)
    select 'bk-' || lpad(n::text, 6, '0'), 'bench', ${archives} || '/bench-' || n || '.tar.zst', ${sizeBytes}, 'manual', now(),
      now() + interval '60 days', ${sha256}, case when ${isCopied} then now() end
    from generate_series(${from}::int, ${to}::int) n`.execute(db);
}

const nameOf = (n: number) => `bench-${n}.tar.zst`;

/** So many present backups of one small world, each with its file and its sealed copy. */
async function fill({ count, s3 }: { count: number; s3: ObjectStoreOptions }): Promise<null> {
  const made = await makeArchive(nameOf(1), 300);
  const bytes = readFileSync(join(archives, nameOf(1)));
  const bucket = openObjectStore(s3);
  let next = 1;
  const work = async () => {
    for (let n = next++; n <= count; n = next++) {
      writeFileSync(join(archives, nameOf(n)), bytes);
      const readPlain = async function* () {
        yield bytes;
      };
      await bucket.put({
        key: keyOfArchive(nameOf(n)),
        fingerprint: made.sha256,
        body: () => createSealedBody({ key, plainBytes: bytes.length, readPlain }),
      });
    }
  };
  await Promise.all(Array.from({ length: 8 }, work));
  bucket.close();
  await addRows(made, { from: 1, to: count, isCopied: true });
  await runSql(postgres.url, "vacuum analyze");
  return null;
}

const large = 9_999_999;

/** A backup that has no copy yet. */
async function addLarge({ bytes }: { bytes: number }): Promise<null> {
  await addRows(await makeArchive(nameOf(large), bytes), { from: large, to: large, isCopied: false });
  return null;
}

const env = (s3: ObjectStoreOptions) => {
  const operator = new URL(nats.url);
  operator.username = "operator";
  operator.password = nats.passwords["operator"] ?? "";
  return {
    SVC_ADMIN_DATABASE_URL: postgres.url,
    SVC_KUBECONFIG: join(dirname(cluster.serviceKubeconfig), "kubeconfig"),
    SVC_OPERATOR_NATS_URL: operator.href,
    SVC_OFFSITE_ACCESS_KEY: s3.accessKey,
    SVC_OFFSITE_SECRET_KEY: s3.secretKey,
    SVC_OFFSITE_KEY: bytesOf(key).toString("base64"),
    SVC_SET: [
      `offsite.endpoint=${s3.endpoint}`,
      `offsite.region=${s3.region}`,
      `offsite.bucket=${s3.bucket}`,
      `offsite.state_dir=${join(dir, "state")}`,
      `ops_watchdog.bundle_dir=${join(dir, "bundles")}`,
    ].join("\n"),
  };
};

serveParent({
  ...{ fill, addLarge, env },
  ...packedArchives({ dir, archives, db, key }),
  loseLarge: () => rmSync(join(archives, nameOf(large))),
  hasLarge: () => statSync(join(archives, nameOf(large)), { throwIfNoEntry: false }) !== undefined,
  end: async () => {
    await Promise.all([storage.drain(500), builds.drain(500)]);
    await nats.stop();
    await Promise.all([postgres.stop(), cluster.close()]);
  },
});
