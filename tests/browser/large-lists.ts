// Lists of ten thousand rows stay usable: what is drawn stays few, and what somebody types is answered. The figures are
// printed beside their goal (docs/reference/panel.md#budgets); a busy machine fails no goal of time.

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { isWhole } from "@svc/config/testing";
import pg from "pg";
import { en } from "../../services/panel/src/words/en/index.ts";
import { growFleet } from "../bench/harness/fleet.ts";
import type { Area, Fixture } from "./fixture.ts";
import type { Person } from "./person.ts";

const many = 10_000;
/** More than any window shows at once. */
const mostDrawn = 400;
const server = "large-list";

async function query({ stack }: Fixture, text: string): Promise<void> {
  const client = new pg.Client(stack.file().database_url);
  await client.connect();
  await client.query(text).finally(() => client.end());
}

/** What took longest from a hand to its paint, and its parts: to its handlers, in them, to the paint. */
type Longest = { ms: number; parts: string };

/**
 * Does something in a list, and prints the longest interaction, the rows that were drawn before it and the heap. A pointer
 * that stands over something new is no interaction: it changes nothing, and the next paint may be far off.
 */
async function measured(t: TestContext, { page }: Person, act: () => Promise<void>): Promise<void> {
  await page.evaluate(() => {
    const kept = window as unknown as { longest: Longest };
    kept.longest = { ms: 0, parts: "" };
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as PerformanceEventTiming[]) {
        const { name, duration, interactionId, startTime, processingStart, processingEnd } = entry;
        const isByHand = interactionId > 0 || name === "input";
        if (!isByHand || duration <= kept.longest.ms) continue;
        const steps = [startTime, processingStart, processingEnd, startTime + duration];
        const parts = steps.slice(1).map((at, n) => Math.round(at - (steps[n] ?? at)));
        kept.longest = { ms: duration, parts: `${name}: ${parts.join(" + ")}` };
      }
    }).observe({ type: "event", durationThreshold: 16 } as PerformanceObserverInit);
  });
  const drawn = await page.$$eval("main [role=row], main li, main details", ({ length }) => length);
  await act();
  const { ms, parts } = await page.evaluate(() => (window as unknown as { longest: Longest }).longest);
  const { JSHeapUsedSize = 0 } = await page.metrics();
  t.diagnostic(
    `interaction ${Math.round(ms)} ms of 200 (${parts}), ${drawn} rows drawn of at most ${mostDrawn}, heap ${Math.round(JSHeapUsedSize / 1e6)} MB of 60`,
  );
  assert.ok(drawn > 0 && drawn <= mostDrawn, `${drawn} rows are drawn`);
}

const addUsers = `insert into identity.users (id, username, email, created_at)
  select 'usr-crowd-' || n, 'crowd-' || lpad(n::text, 5, '0'), 'crowd-' || n || '@example.net',
    now() - n * interval '1 second'
  from generate_series(1, ${many}) n`;
const removeUsers = "delete from identity.users where id like 'usr-crowd-%'";

const addAudit = `insert into identity.audit_logs (entry_id, actor, source, action, server_name, created_at)
  select 'crowd-' || n, 'crowd', 'lifecycle', 'server.wake', 'srv-' || n, now() - n * interval '1 second'
  from generate_series(1, ${many}) n`;

const addBackups = `insert into storage.world_backups
    (id, server_name, backup_ref, size_bytes, reason, created_at, expires_at, sha256, verified_at)
  select 'bk-crowd-' || n, '${server}', 'crowd/' || n, 1000, 'manual', now() - n * interval '1 minute',
    now() + interval '90 days', repeat('0', 64), now()
  from generate_series(1, ${many}) n`;

export const addLargeListTests: Area = (fixture) => {
  test("ten thousand users are searched and read page by page", async (t) => {
    const { owner, addressOf } = fixture();
    await query(fixture(), addUsers);
    try {
      await owner.open(addressOf("admin_host", "/admin/users"));
      await owner.sees(/10,?0\d\d users/);
      await measured(t, owner, async () => {
        await owner.press("button", en.users.next);
        await owner.sees("crowd-00055");
        await owner.fill(en.users.search, "crowd-099");
        await owner.sees(en.users.shown(50, 100));
        await owner.fill(en.users.search, "crowd-09999");
        await owner.sees(new RegExp(`(^|\\n)${en.users.shown(1, 1)}(\\n|$)`));
      });
    } finally {
      await query(fixture(), removeUsers);
    }
  });

  if (!isWhole) return;

  test("so is an audit log of ten thousand entries", async (t) => {
    const { owner, addressOf } = fixture();
    await query(fixture(), addAudit);
    await owner.open(addressOf("admin_host", "/admin/audit?actor=crowd"));
    await owner.sees("srv-1");
    await measured(t, owner, async () => {
      await owner.press("button", en.audit.older);
      await owner.sees("srv-60");
      await owner.fill(en.audit.server, "srv-9999");
      await owner.sees(en.audit.shown(1));
    });
  });

  test("so are ten thousand backups of a server", async (t) => {
    const { owner, addressOf } = fixture();
    const asked = { name: server, subdomain: server, autostartPolicy: "ownerOnly" };
    assert.equal((await owner.request("POST", "/servers", asked)).status, 201);
    await query(fixture(), addBackups);
    await owner.open(addressOf("admin_host", `/servers/${server}/backups`));
    await owner.sees(`1–50 / ${many}`);
    await measured(t, owner, async () => {
      await owner.press("button", en.users.next);
      await owner.sees(`51–100 / ${many}`);
    });
    await query(fixture(), "delete from storage.world_backups where id like 'bk-crowd-%'");
  });

  test("so are ten thousand servers, from the first row to the last", async (t) => {
    const { stack, owner, addressOf } = fixture();
    // The server of the test before is there already.
    const ensureServer = async (name: string) => {
      const asked = { name, subdomain: name, autostartPolicy: "ownerOnly" };
      assert.equal((await owner.request("POST", "/servers", asked)).status, 201);
    };
    await growFleet({ file: stack.file, ensureServer }, 0, many);
    await owner.open(addressOf("admin_host", "/servers"));
    // Other servers of the stack may come after these.
    await owner.fill(en.servers.search, "bench-0");
    await owner.sees(new RegExp(`(^|\\n)${en.servers.shown(many, many)}(\\n|$)`));
    await measured(t, owner, async () => {
      await owner.page.evaluate(() => window.scrollTo(0, document.body.scrollHeight));
      await owner.sees(`bench-0${many - 1}`);
      await owner.fill(en.servers.search, "bench-0123");
      await owner.sees("bench-01239");
      await owner.sees(new RegExp(`(^|\\n)${en.servers.shown(10, 10)}(\\n|$)`));
    });
  });
};
