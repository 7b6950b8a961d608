// The machine is gone: a new one gets everything back from the bucket and the recovery sheet, by the commands of
// docs/disaster-recovery.md and in their order.

import assert from "node:assert/strict";
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { copyFileSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join as joinPath, resolve } from "node:path";
import { Readable } from "node:stream";
import { type TestContext, test } from "node:test";
import { gzipSync } from "node:zlib";
import { wholeOnly } from "@svc/config/testing";
import { until } from "@svc/local-stack/testing";
import { type S3Server, startS3Server } from "@svc/object-store/testing";
import { digestOf, mediaTypes, openRegistry, type Registry } from "@svc/registry";
import pg from "pg";
import { makeTar } from "../../libs/world/src/testing.ts";
import { blockNameAt, breakFloorBlock, join, type Place, type Player } from "./player.ts";
import { runSvc, type Stack, send, startStack, withoutGame } from "./stack.ts";

const page = readFileSync(resolve(import.meta.dirname, "../../docs/disaster-recovery.md"), "utf8");
/** Arguments of each `svc` of the steps, in order. */
const commands = [...page.matchAll(/^ {3}npm run svc -- (.+)$/gm)].map(([, line = ""]) => line.split(" "));
/** What the test does about each. */
const steps = [
  "offsite restore-key",
  "offsite list",
  "offsite fetch-db",
  "db restore",
  "offsite fetch-worlds",
  "offsite fetch-images",
  "offsite fetch-uploads",
  "db apply-servers",
  "backup list",
  "backup restore",
  "offsite take-over",
  "offsite sync",
  "offsite status",
];

const player = randomUUID();
const name = "survival";
const image = { repository: "packs/islands", tag: "1", bytes: randomBytes(300_000) };

test("the page has the commands of this test, each on the same data folder", () => {
  assert.deepEqual(
    commands.map((words) => words.slice(0, 2).join(" ")),
    steps,
  );
  for (const words of commands) assert.ok(words.join(" ").includes("--data /srv/svc"), words.join(" "));
  const [up = ""] = /^ {3}npm run up -- .*$/m.exec(page) ?? [];
  for (const key of ["endpoint", "region", "bucket"]) assert.ok(up.includes(`--set offsite.${key}=`), up);
});

for (const { copies, settings, listed } of [
  { copies: "whole copies", settings: [], listed: /^worlds\/survival-.+\.sealed/m },
  {
    copies: "copies in packs",
    settings: ["archive.deduplicate=true", "offsite.packs=true"],
    listed: /^worlds\/packs\//m,
  },
]) {
  test(`a new machine recovers everything from ${copies} and the recovery sheet`, wholeOnly, async (t) => {
    await loseMachine(t, settings, listed);
  });
}

async function loseMachine(t: TestContext, settings: readonly string[], copies: RegExp): Promise<void> {
  const s3 = await startS3Server();
  try {
    const args = [...argumentsFor(s3), ...settings.flatMap((one) => ["--set", one])];
    const old = await startStack(args);
    const before = await live(old).catch(async (error: unknown) => {
      await old.stop().catch(() => undefined);
      throw error;
    });
    const dir = mkdtempSync(joinPath(tmpdir(), "svc-stack-"));
    // Servers name their images with the address of the registry.
    copyFileSync(joinPath(old.dataDir, "ports.json"), joinPath(dir, "ports.json"));
    await old.stop();
    const began = performance.now();
    const secondsSince = () => Math.round((performance.now() - began) / 1_000);
    const fresh = await startStack(args, dir);
    try {
      const started = secondsSince();
      await recover(fresh, before, copies);
      t.diagnostic(`recovered in ${secondsSince()} s, ${started} s of them for the start of the stack`);
    } finally {
      await fresh.stop();
    }
  } finally {
    await s3.stop();
  }
}

function argumentsFor(s3: S3Server): string[] {
  const { accessKey, secretKey, region, bucket } = s3.options();
  Object.assign(process.env, { SVC_OFFSITE_ACCESS_KEY: accessKey, SVC_OFFSITE_SECRET_KEY: secretKey });
  const set = {
    ...{ "offsite.endpoint": s3.endpoint, "offsite.region": region, "offsite.bucket": bucket },
    // No bundle and no pass but those of the test.
    "ops_watchdog.first_tick": "1h",
    ...{ "lifecycle.wake_cooldown": "0s", "lifecycle.arrival_window": "2s" },
  };
  const [, services] = withoutGame;
  return [
    ...["--only", `${services},registry-gate`],
    ...Object.entries(set).flatMap(([key, value]) => ["--set", `${key}=${value}`]),
  ];
}

type Before = {
  sheet: string;
  users: unknown[];
  broken: Place;
  imageDigest: string;
  contextSha256: string;
};

/** What the old installation had when its machine was lost. */
async function live(stack: Stack): Promise<Before> {
  await stack.becomeOwner();
  const { sheet } = JSON.parse(await succeed(stack, "offsite", "keygen", "--sheet", "--json")) as Before;
  const about = { name, subdomain: name, autostartPolicy: "public" };
  const created = await stack.external("POST", "/api/v1/servers", about);
  assert.equal(created.status, 201, JSON.stringify(created.body));
  await (await enter(stack)).leave();
  await succeed(stack, "backup-now", name, "--stop", "--yes");
  const second = await enter(stack);
  const broken = await breakFloorBlock(second);
  await second.leave();
  await succeed(stack, "backup-now", name, "--stop", "--yes");
  const imageDigest = await push(registryOf(stack), image.bytes);
  const contextSha256 = await submit(stack);
  await succeed(stack, "offsite", "sync");
  await succeed(stack, "offsite", "status");
  return { sheet, users: await usersOf(stack), broken, imageDigest, contextSha256 };
}

/** The steps of the page, with what each must bring back. */
async function recover(stack: Stack, before: Before, copies: RegExp): Promise<void> {
  const follow = followerOf(stack);
  await follow("offsite restore-key", { typed: before.sheet });
  const listed = await follow("offsite list");
  assert.match(listed, copies);
  for (const folder of ["db", "registry", "uploads"]) assert.match(listed, new RegExp(`^${folder}/`, "m"));
  const [, bundle = ""] = /svc db restore (\S+)/.exec(await follow("offsite fetch-db")) ?? [];
  await follow("db restore", { places: { "db-…-offsite.tar": bundle } });
  assert.match(await follow("offsite fetch-worlds"), /^Fetched 2 archives/);
  assert.match(await follow("offsite fetch-images"), /Fetched [1-9]\d* parts/);
  assert.match(await follow("offsite fetch-uploads"), /^Fetched 1 contexts/);
  await follow("db apply-servers");
  const [, newest = ""] = /^(bk-\S+)/m.exec(await follow("backup list")) ?? [];
  await follow("backup restore", { places: { "bk-…": newest } });
  await assertAllIsBack(stack, before);
  await follow("offsite take-over");
  await follow("offsite sync");
  await follow("offsite status");
}

async function assertAllIsBack(stack: Stack, before: Before): Promise<void> {
  const back = await enter(stack);
  assert.equal(blockNameAt(back, before.broken), "air", "the world is the one of before");
  await back.leave();
  assert.deepEqual(await usersOf(stack), before.users);
  const registry = registryOf(stack);
  assert.equal((await registry.headManifest(image.repository, image.tag))?.digest, before.imageDigest);
  const blob = { digest: digestOf(image.bytes), size: image.bytes.length };
  // It fails on other bytes.
  for await (const _ of registry.getBlob(image.repository, blob));
  const visit = await signIn(stack);
  const { body } = await visit("GET", "/api/v1/me/submissions");
  const { submissions } = body as { submissions: { context_sha256: string }[] };
  assert.deepEqual(
    submissions.map(({ context_sha256 }) => context_sha256),
    [before.contextSha256],
  );
}

type Follow = (step: string, about?: { typed?: string; places?: Record<string, string> }) => Promise<string>;

/** Runs the commands of the page one after the other, as they stand there but for what is in `places`; each must succeed. */
function followerOf(stack: Stack): Follow {
  const left = [...commands];
  return async (step, { typed, places = {} } = {}) => {
    const words = left.shift() ?? [];
    assert.equal(words.slice(0, 2).join(" "), step, "the next command of the page");
    const args = words.map((word) => ({ "/srv/svc": stack.dataDir, ...places })[word] ?? word);
    const ran = await runSvc(args, Promise.resolve(typed ?? ""));
    assert.equal(ran.code, 0, `${args.join(" ")}: ${ran.stdout}${ran.stderr}`);
    return ran.stdout;
  };
}

async function succeed(stack: Stack, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await stack.svc(...args);
  assert.equal(code, 0, `${args.join(" ")}: ${stdout}${stderr}`);
  return stdout;
}

async function enter(stack: Stack): Promise<Player> {
  const path = `/api/v1/internal/servers/${name}`;
  const address = await until(
    async () => {
      const status = await stack.internal("GET", `${path}/status`);
      const info = status.body as { phase?: string; ready?: boolean; endpointAddress?: string };
      if (info.phase === "Running" && info.ready) return info.endpointAddress;
      if (info.phase === "Stopped") await stack.internal("POST", `${path}/wake`, { mc_uuid: player });
      return undefined;
    },
    180_000,
    "the server to be ready",
  );
  return join(address, "alice");
}

async function usersOf(stack: Stack): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: stack.file().database_url });
  await client.connect();
  try {
    const links = "select mc_uuid from identity.account_links l where l.user_id = u.id";
    const users = `select id, username, email, (${links}) from identity.users u order by id`;
    return (await client.query(users)).rows;
  } finally {
    await client.end();
  }
}

/** With the right to write everything. */
function registryOf(stack: Stack): Registry {
  const { host = "", credentials_file = "" } = stack.file().registry ?? {};
  const [, password = ""] = /^platform:(.+)$/m.exec(readFileSync(credentials_file, "utf8")) ?? [];
  return openRegistry({ host, plainHttp: true, credential: { user: "platform", password } });
}

/** Returns the digest of the manifest. */
async function push(registry: Registry, layer: Buffer): Promise<string> {
  const config = Buffer.from(JSON.stringify({ architecture: "amd64", os: "linux" }));
  for (const bytes of [config, layer]) {
    const open = () => Readable.from([bytes]);
    await registry.putBlob(image.repository, { digest: digestOf(bytes), size: bytes.length, open });
  }
  const describe = (mediaType: string, bytes: Buffer) => {
    return { mediaType, digest: digestOf(bytes), size: bytes.length };
  };
  const manifest = {
    ...{ schemaVersion: 2, mediaType: mediaTypes.manifest },
    config: describe(mediaTypes.config, config),
    layers: [describe(mediaTypes.layerGzip, layer)],
  };
  const bytes = Buffer.from(JSON.stringify(manifest));
  return registry.putManifest(image.repository, image.tag, { mediaType: mediaTypes.manifest, bytes });
}

type Headers = Record<string, string>;
type Visit = (...request: [method: string, path: string, body?: unknown, headers?: Headers]) => Promise<{
  status: number;
  body: unknown;
}>;

/** A browser of the player, whose account is made by the first sign-in. */
async function signIn(stack: Stack): Promise<Visit> {
  const minted = await stack.internal("POST", "/api/v1/internal/account/link/code", { mc_uuid: player });
  assert.equal(minted.status, 201, JSON.stringify(minted.body));
  const { external_base_url, panel_host } = stack.file();
  const host = `${panel_host.split(":")[0]}:${new URL(external_base_url).port}`;
  let cookie = "";
  const visit: Visit = async (method, path, body, headers = {}) => {
    const all = { host, ...headers, ...(cookie && { cookie }) };
    const answer = await send(new URL(path, external_base_url).href, { method, headers: all, body });
    cookie = answer.headers["set-cookie"]?.[0]?.split(";")[0] ?? cookie;
    return answer;
  };
  const { code } = minted.body as { code: string };
  const bound = await visit("POST", "/api/v1/auth/bind", { code });
  assert.equal(bound.status, 200, JSON.stringify(bound.body));
  return visit;
}

/** Returns the digest of the context of the player's pack. */
async function submit(stack: Stack): Promise<string> {
  const visit = await signIn(stack);
  const bytes = gzipSync(
    makeTar([
      { path: "Dockerfile", content: "FROM scratch\n" },
      { path: "world.bin", content: randomBytes(200_000) },
    ]),
  );
  const created = await visit("POST", "/api/v1/me/submissions", { display_name: "Sky islands" });
  const { id } = created.body as { id: string };
  const path = `/api/v1/me/submissions/${id}/context/upload`;
  const digest = createHash("sha256").update(bytes).digest();
  const headers = {
    "content-type": "application/octet-stream",
    "content-digest": `sha-256=:${digest.toString("base64")}:`,
  };
  const put = await visit("PUT", `${path}?offset=0`, bytes, headers);
  assert.equal(put.status, 200, JSON.stringify(put.body));
  const complete = await visit("POST", `${path}/complete`);
  assert.equal(complete.status, 200, JSON.stringify(complete.body));
  return digest.toString("hex");
}
