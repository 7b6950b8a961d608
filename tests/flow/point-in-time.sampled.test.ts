// The database of a running installation goes back to a time, here and from the bucket alone; worlds stay as they are.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readdirSync, renameSync } from "node:fs";
import { join as joinPath } from "node:path";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { wholeOnly } from "@svc/config/testing";
import { until } from "@svc/local-stack/testing";
import { startS3Server } from "@svc/object-store/testing";
import { type Stack, send, startStack, withoutGame } from "./stack.ts";

async function succeed(stack: Stack, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await stack.svc(...args);
  assert.equal(code, 0, `${args.join(" ")}: ${stdout}${stderr}`);
  return stdout;
}

async function create(stack: Stack, name: string): Promise<void> {
  const about = { name, subdomain: name, autostartPolicy: "public" };
  const created = await stack.external("POST", "/api/v1/servers", about);
  assert.equal(created.status, 201, JSON.stringify(created.body));
}

/** The account of a player, whom the owner does not know yet. */
async function addAccount(stack: Stack): Promise<void> {
  const minted = await stack.internal("POST", "/api/v1/internal/account/link/code", {
    mc_uuid: randomUUID(),
  });
  assert.equal(minted.status, 201, JSON.stringify(minted.body));
  const { code } = minted.body as { code: string };
  const { external_base_url, panel_host } = stack.file();
  const host = `${panel_host.split(":")[0]}:${new URL(external_base_url).port}`;
  const url = new URL("/api/v1/auth/bind", external_base_url).href;
  const bound = await send(url, { method: "POST", headers: { host }, body: { code } });
  assert.equal(bound.status, 200, JSON.stringify(bound.body));
}

type Archive = { runs: { covered?: { from: string; until: string } }[] };

/** A time between two changes, once the archive covers it. */
async function coveredMoment(stack: Stack): Promise<string> {
  await delay(50);
  const at = new Date().toISOString();
  await delay(50);
  await until(
    async () => {
      const { stdout } = await stack.svc("db", "wal", "--json");
      const { runs } = JSON.parse(stdout) as Archive;
      return runs.some(({ covered }) => covered && covered.from <= at && covered.until >= at);
    },
    120_000,
    "the archive to cover it",
  );
  return at;
}

/** Files of every world, on their volumes. */
function worldsOf(stack: Stack): string[] {
  const volumes = joinPath(stack.dataDir, "cluster", "volumes");
  return readdirSync(volumes, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith("/level.dat"))
    .sort();
}

const accountsOf = (bundle: string) =>
  (JSON.parse(bundle) as { counts: { accounts: number } }).counts.accounts;

test(
  "a running installation goes back to a time, and a copy of it comes from the bucket",
  wholeOnly,
  async () => {
    const s3 = await startS3Server();
    const { accessKey, secretKey, region, bucket } = s3.options();
    Object.assign(process.env, { SVC_OFFSITE_ACCESS_KEY: accessKey, SVC_OFFSITE_SECRET_KEY: secretKey });
    const set = {
      ...{ "offsite.endpoint": s3.endpoint, "offsite.region": region, "offsite.bucket": bucket },
      // No pass but those of the test.
      ...{ "ops_watchdog.first_tick": "1h", "ops_watchdog.wal_archive": "true" },
    };
    const words = Object.entries(set).flatMap(([key, value]) => ["--set", `${key}=${value}`]);
    const stack = await startStack([...withoutGame, ...words]);
    // A restore ends all connections, and everything is started again.
    stack.expectErrors(/database|connection|terminat|unavailable|NATS|stream|archive/i);
    try {
      await stack.becomeOwner();
      await succeed(stack, "offsite", "keygen");
      await create(stack, "survival");
      const woken = await stack.external("POST", "/api/v1/servers/survival/wake");
      assert.ok(woken.status < 300, JSON.stringify(woken.body));
      await until(() => worldsOf(stack).length === 1, 180_000, "the world");
      const at = await coveredMoment(stack);
      await addAccount(stack);
      await coveredMoment(stack);
      assert.equal(accountsOf(await succeed(stack, "db", "backup", "--json")), 2);
      await succeed(stack, "offsite", "sync");
      const worlds = worldsOf(stack);

      // Everything local of the archive is lost; the bucket has it.
      const dir = joinPath(stack.dataDir, "wal");
      renameSync(dir, `${dir}.lost`);
      const fetched = await succeed(stack, "offsite", "fetch-wal", "--at", at);
      assert.match(fetched, /covers .* until /);
      const bundle = await succeed(stack, "db", "at", at, "--json");
      assert.equal(accountsOf(bundle), 1);

      assert.equal((await stack.external("GET", "/api/v1/me")).status, 200);
      await succeed(stack, "db", "restore", "--to", at, "--yes");
      const who = await until(async () => {
        const answer = await stack.external("GET", "/api/v1/me").catch(() => undefined);
        return answer && answer.status < 500 ? answer : undefined;
      }, 120_000);
      assert.equal(who.status, 401, "sessions have ended");
      const now = accountsOf(await succeed(stack, "db", "backup", "--json"));
      assert.equal(now, 1, "only what was there at that time");
      assert.deepEqual(worldsOf(stack), worlds, "worlds are where they were");
    } finally {
      await stack.stop();
      await s3.stop();
    }
  },
);
