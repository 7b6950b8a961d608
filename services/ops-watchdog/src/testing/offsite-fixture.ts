// Off-site copies against a strict S3 server, a real PostgreSQL and storage over a real nats-server.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { loadSettings } from "@svc/config";
import { testProgram } from "@svc/config/test-program";
import type { Mesh } from "@svc/mesh";
import { startTestNats } from "@svc/mesh/testing";
import { type S3Server, startS3Server } from "@svc/object-store/testing";
import { bytesOf, generateKey, open, parseRing, type SealKey } from "@svc/sealed";
import type { TestDatabase } from "@svc/store/testing";
import { settings as schema } from "../config.ts";
import type { Command } from "../host/command.ts";
import type { HostContext } from "../host/context.ts";
import { runCommand } from "../host/run-command.ts";
import { keyOfArchive } from "../offsite/object-key.ts";
import type { PassResult } from "../offsite/pass.ts";
import { type BuildsStub, serveBuilds } from "./builds-stub.ts";
import { createWatchdogDatabase } from "./fixture.ts";
import { type StorageStub, serveStorage } from "./storage-stub.ts";

const program = testProgram(resolve(import.meta.dirname, "host-main.ts"));

type RunAbout = {
  keys?: readonly SealKey[];
  set?: readonly string[];
  /** Called before each step. */
  step?: (name: string) => void;
  /** Limits of requests, in place of long ones. */
  timing?: HostContext["timing"];
};

/** Refused requests fail fast; a slow machine has its time. */
const timing = { attempts: 2, firstPauseMs: 1, maxPauseMs: 5 };

export type Host = {
  /** Folder of bundles, and of the id of the host. */
  bundleDir: string;
  stateDir: string;
  /** Runs a command in this process. */
  run: <T>(command: Command, about?: RunAbout) => Promise<T>;
  sync: (about?: RunAbout) => Promise<PassResult>;
  /** Runs a command in a process of its own that is killed at a step. */
  kill: (command: Command, step: string, keys?: readonly SealKey[]) => Promise<NodeJS.Signals | null>;
};

export type OffsiteFixture = {
  s3: S3Server;
  storage: StorageStub;
  builds: BuildsStub;
  database: TestDatabase;
  archiveDir: string;
  key: SealKey;
  /** Another machine that uses the bucket; `set` are settings beside those of every host. */
  addHost: (name: string, set?: readonly string[], credentials?: Credentials) => Host;
  /** Key of the whole copy of a backup. */
  keyOf: (id: string) => string;
  /** Plaintext of an object. */
  opened: (key: string, keys?: readonly SealKey[]) => Promise<Buffer>;
  /** Empties the bucket and everything that is recorded. */
  reset: () => Promise<void>;
  stop: () => Promise<void>;
};

export async function openOffsiteFixture(): Promise<OffsiteFixture> {
  const [database, nats, s3] = await Promise.all([
    createWatchdogDatabase(),
    startTestNats(),
    startS3Server({
      buckets: {
        copies: { versioning: "off" },
        versions: { versioning: "enabled" },
        locked: { versioning: "enabled", objectLock: { mode: "GOVERNANCE", days: 30 } },
      },
    }),
  ]);
  await addAccounts(database);
  const dir = mkdtempSync(join(tmpdir(), "svc-offsite-"));
  const archiveDir = join(dir, "archives");
  mkdirSync(archiveDir);
  const mesh: Mesh = await nats.connect("storage");
  const storage = serveStorage(mesh, archiveDir);
  const buildsMesh: Mesh = await nats.connect("builds");
  const builds = serveBuilds(buildsMesh);
  await Promise.all([mesh.announce(), buildsMesh.announce()]);
  const key = generateKey();
  const operatorUrl = new URL(nats.url);
  operatorUrl.username = "operator";
  operatorUrl.password = nats.passwords["operator"] ?? "";
  const about = { dir, s3, key, databaseUrl: database.adminUrl, natsUrl: operatorUrl.href };
  return {
    s3,
    storage,
    builds,
    database,
    archiveDir,
    key,
    addHost: (name, set = [], credentials = s3.options()) => hostIn({ ...about, credentials }, name, set),
    keyOf: (id) => keyOfArchive(storage.rows.get(id)?.archive ?? ""),
    opened: async (object, keys = [key]) => {
      const chunks: Buffer[] = [];
      for await (const chunk of open([s3.bytesOf(object)], ringOf(keys))) chunks.push(chunk);
      return Buffer.concat(chunks);
    },
    reset: async () => {
      s3.faults.clear();
      s3.setClock(0);
      for (const object of s3.keys()) s3.remove(object);
      s3.requests.length = 0;
      storage.rows.clear();
      builds.clear();
      storage.recorded.length = 0;
      for (const name of readdirSync(archiveDir)) rmSync(join(archiveDir, name));
      await database.admin("truncate ops_watchdog.offsite_passes");
    },
    stop: async () => {
      await Promise.all([mesh.drain(500), buildsMesh.drain(500)]);
      await Promise.all([nats.stop(), s3.stop()]);
      await database.drop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** Without an account and a server a database looks lost. */
async function addAccounts(database: TestDatabase): Promise<void> {
  for (const [schemaName, table] of [
    ["identity", "users"],
    ["lifecycle", "servers"],
  ]) {
    await database.admin(`create schema ${schemaName}`);
    await database.admin(`create table ${schemaName}.schema_migrations (version int, name text)`);
    await database.admin(`insert into ${schemaName}.schema_migrations values (1, 'outbox')`);
    await database.admin(`create table ${schemaName}.${table} (name text)`);
    await database.admin(`insert into ${schemaName}.${table} values ('amelia'), ('survival')`);
  }
}

const ringOf = (keys: readonly SealKey[]) => parseRing(textOf(keys));
const textOf = (keys: readonly SealKey[]) => keys.map((key) => bytesOf(key).toString("base64")).join("\n");

/** Of another store than the one of the fixture. */
type Credentials = { accessKey: string; secretKey: string };

type About = {
  dir: string;
  s3: S3Server;
  key: SealKey;
  databaseUrl: string;
  natsUrl: string;
  credentials: Credentials;
};

function hostIn(
  { dir, s3, key, databaseUrl, natsUrl, credentials }: About,
  name: string,
  more: readonly string[],
): Host {
  const [bundleDir, stateDir] = [join(dir, name, "bundles"), join(dir, name, "offsite")];
  const { region, bucket } = s3.options();
  const { accessKey, secretKey } = credentials;
  const overrides = [
    `offsite.endpoint=${s3.endpoint}`,
    `offsite.region=${region}`,
    `offsite.bucket=${bucket}`,
    `offsite.state_dir=${stateDir}`,
    "offsite.writer_settle=1ms",
    `ops_watchdog.bundle_dir=${bundleDir}`,
    ...more,
  ];
  const envOf = (keys: readonly SealKey[]) => ({
    SVC_OFFSITE_ACCESS_KEY: accessKey,
    SVC_OFFSITE_SECRET_KEY: secretKey,
    SVC_OFFSITE_KEY: textOf(keys),
    SVC_OPERATOR_NATS_URL: natsUrl,
  });
  const run: Host["run"] = async <T>(command: Command, about: RunAbout = {}) => {
    const { keys = [key], set = [], step = () => undefined } = about;
    const context: HostContext = {
      settings: loadSettings(schema, { overrides: [...overrides, ...set] }),
      env: envOf(keys),
      databaseUrl,
      kubeconfig: undefined,
      natsUrl: undefined,
      natsUser: "",
      natsPassword: "",
      natsReplicas: undefined,
      rolePasswordsFile: undefined,
      rehearsalUrl: "",
      version: "0.0.1",
      serversPauseMs: 0,
      step,
      servers: { kind: "read", items: [] },
      timing: { ...timing, ...about.timing },
    };
    return (await runCommand(context, command)) as T;
  };
  return {
    bundleDir,
    stateDir,
    run,
    sync: (about) => run<PassResult>({ do: "offsite-sync" }, about),
    kill: async (command, step, keys = [key]) => {
      const env = {
        ...envOf(keys),
        // biome-ignore lint/style/noProcessEnv: it loads faster with the code cache of this process
        NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
        SVC_ADMIN_DATABASE_URL: databaseUrl,
        SVC_SET: overrides.join("\n"),
        SVC_TEST_NO_SERVERS: "1",
        SVC_TEST_KILL_AT: step,
      };
      const child = spawn(process.execPath, [program], { env, stdio: ["pipe", "pipe", "pipe"] });
      child.stdin.end(JSON.stringify(command));
      const ended = new Promise<NodeJS.Signals | null>((done) =>
        child.once("close", (_, signal) => done(signal)),
      );
      await Promise.all([text(child.stdout), text(child.stderr)]);
      return ended;
    },
  };
}

/** A pass that must complete; returns its report. */
export async function completedPass(host: Host, about?: Parameters<Host["sync"]>[0]) {
  const { state, report } = await host.sync(about);
  assert.equal(state, "completed", JSON.stringify(report));
  return report;
}
