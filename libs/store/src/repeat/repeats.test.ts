import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, beforeEach, test } from "node:test";
import { until } from "@svc/local-stack/testing";
import { createLogger } from "@svc/telemetry";
import { sql } from "kysely";
import type { Store } from "../store.ts";
import { createTestDatabase, type TestDatabase } from "../testing.ts";
import { createRepeats, prune, type Repeats } from "./repeats.ts";

type Tables = { things: { name: string } };

let database: TestDatabase;
let store: Store<Tables>;
let repeats: Repeats;
let counter = 0;

// Every service with repeats has this migration; the one of identity stands for all.
const table = readFileSync(
  new URL("../../../../services/identity/migrations/0009-handled-requests.sql", import.meta.url),
  "utf8",
);

before(async () => {
  const things = "create table things (name text not null)";
  database = await createTestDatabase({
    schema: "shop",
    migrations: [
      { version: 1, name: "outbox", sql: "create table outbox (id bigint)" },
      { version: 2, name: "handled-requests", sql: table },
      { version: 3, name: "things", sql: things },
    ],
  });
  store = database.open<Tables>();
  repeats = createRepeats(store, createLogger("store", "silent"));
});
after(async () => {
  await repeats?.close();
  await store?.close();
  await database?.drop();
});
beforeEach(() => {
  counter += 1;
});

const request = (isRepeat: boolean) => ({
  id: `request-${counter}`,
  isRepeat,
  deadlineAt: Date.now() + 30_000,
});
const text = (bytes: Uint8Array) => Buffer.from(bytes).toString();
const insert = (name: string) => store.db.insertInto("things").values({ name }).execute();
const add = (name: string) =>
  store.db.transaction().execute((trx) => trx.insertInto("things").values({ name }).execute());
const things = async () =>
  (await store.db.selectFrom("things").select("name").execute()).map(({ name }) => name);
const count = async (name: string) => (await things()).filter((one) => one === name).length;
const isUnavailable = (error: unknown) => (error as { fault: string }).fault === "unavailable";
/** As the mesh runs a handler: a refusal is an outcome too. */
const run = (work: () => Promise<string>) => () =>
  work().then(
    (answer) => Buffer.from(answer),
    (error: Error) => Buffer.from(`refused: ${error.message}`),
  );

function gate(): { open: () => void; passed: Promise<void> } {
  let open = () => {};
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, passed };
}

for (const [how, write] of [
  ["a transaction", add],
  ["a single statement", insert],
] as const) {
  test(`a repeat of a change in ${how} is answered with the first outcome and changes nothing`, async () => {
    const name = `once in ${how}`;
    let runs = 0;
    const change = run(async () => {
      runs += 1;
      await write(name);
      return `made by run ${runs}`;
    });
    assert.equal(text(await repeats.once(request(false), change)), "made by run 1");
    assert.equal(text(await repeats.once(request(true), change)), "made by run 1");
    assert.equal(await count(name), 1);
  });
}

test("a change that was rolled back is made by its repeat", async () => {
  const failing = run(() =>
    store.db.transaction().execute(async (trx) => {
      await trx.insertInto("things").values({ name: "second try" }).execute();
      throw new Error("no");
    }),
  );
  assert.equal(text(await repeats.once(request(false), failing)), "refused: no");
  const change = run(async () => {
    await add("second try");
    return "made";
  });
  assert.equal(text(await repeats.once(request(true), change)), "made");
  assert.equal(await count("second try"), 1);
});

test("a run that hung before its write makes no change once its repeat has made it", async () => {
  const hanging = gate();
  const change = (wait: Promise<void>) =>
    run(async () => {
      await wait;
      await add("hung before");
      return "made";
    });
  const first = repeats.once(request(false), change(hanging.passed));
  assert.equal(text(await repeats.once(request(true), change(Promise.resolve()))), "made");
  hanging.open();
  assert.equal(text(await first), "made");
  assert.equal(await count("hung before"), 1);
});

test("while the first run hangs in its transaction a repeat is refused, afterwards it hears the outcome", async () => {
  const hanging = gate();
  const inside = gate();
  const first = repeats.once(
    request(false),
    run(() =>
      store.db.transaction().execute(async (trx) => {
        await trx.insertInto("things").values({ name: "hung inside" }).execute();
        inside.open();
        await hanging.passed;
        return "made at last";
      }),
    ),
  );
  await inside.passed;
  const again = run(async () => {
    await add("hung inside");
    return "made again";
  });
  // The repeat's own run is refused by the lock, and nobody has an outcome yet.
  assert.match(text(await repeats.once(request(true), again)), /^refused: /);
  hanging.open();
  assert.equal(text(await first), "made at last");
  assert.equal(text(await repeats.once(request(true), again)), "made at last");
  assert.equal(await count("hung inside"), 1);
});

test("a repeat of a change whose run died before its outcome is refused and changes nothing", async () => {
  const dying = repeats.once(
    request(false),
    run(async () => {
      await add("no outcome");
      return new Promise<string>(() => {});
    }),
  );
  const isMade = async () => (await count("no outcome")) === 1;
  await until(isMade);
  const again = run(async () => {
    await add("no outcome");
    return "made again";
  });
  await assert.rejects(repeats.once(request(true), again), isUnavailable);
  assert.equal(await count("no outcome"), 1);
  void dying;
});

test("a repeat that meets what the first run did hears its outcome, not a refusal", async () => {
  const spent = run(async () => {
    // What a handler does between the look for an outcome and its own: the first run ends meanwhile.
    await repeats.once(
      request(false),
      run(async () => {
        await add("spent");
        return "yours";
      }),
    );
    throw new Error("the code was used already");
  });
  assert.equal(text(await repeats.once(request(true), spent)), "yours");
});

test("nothing is changed for a request that nobody waits for any more", async () => {
  const late = { ...request(false), deadlineAt: Date.now() - 1 };
  const change = run(async () => {
    await add("late");
    return "made";
  });
  assert.match(text(await repeats.once(late, change)), /^refused: /);
  assert.equal(await count("late"), 0);
});

test("a change that takes longer than its caller waits is not committed, and its connection has no transaction", async () => {
  const narrow = database.open<Tables>({ poolSize: 1 });
  const own = createRepeats(narrow, createLogger("store", "silent"));
  const deadlineAt = Date.now() + 300;
  const slow = run(async () => {
    await narrow.db.transaction().execute(async (trx) => {
      await trx.insertInto("things").values({ name: "too slow" }).execute();
      await until(() => Date.now() > deadlineAt);
    });
    return "made";
  });
  assert.match(text(await own.once({ ...request(false), deadlineAt }, slow)), /^refused: /);
  assert.equal(await count("too slow"), 0);
  // A single statement waits for a lock that is let go only after the deadline.
  const single = run(async () => {
    await narrow.db.insertInto("things").values({ name: "single" }).execute();
    return "made";
  });
  const endAt = Date.now() + 300;
  let waiting = Promise.resolve<Uint8Array>(Buffer.alloc(0));
  await store.db.transaction().execute(async (trx) => {
    await sql`lock table things in exclusive mode`.execute(trx);
    waiting = own.once({ id: `request-${counter}-single`, isRepeat: false, deadlineAt: endAt }, single);
    await until(() => Date.now() > endAt);
  });
  assert.match(text(await waiting), /^refused: /);
  assert.equal(await count("single"), 0);
  const open =
    "select state from pg_stat_activity where datname = current_database() and state like 'idle in%'";
  assert.deepEqual(await database.admin(open), []);
  await own.close();
  await narrow.close();
});

test("a refused claim leaves its connection without a transaction", async () => {
  const narrow = database.open<Tables>({ poolSize: 1 });
  const own = createRepeats(narrow, createLogger("store", "silent"));
  const change = run(async () => {
    await narrow.db
      .transaction()
      .execute((trx) => trx.insertInto("things").values({ name: "narrow" }).execute());
    return "made";
  });
  await own.once({ ...request(false), deadlineAt: 0 }, change);
  const open =
    "select state from pg_stat_activity where datname = current_database() and state like 'idle in%'";
  assert.deepEqual(await database.admin(open), []);
  await own.close();
  await narrow.close();
});

test("outcomes are kept where only the id opens them, and for ten minutes", async () => {
  const change = run(async () => {
    await add("secret");
    return "cookie=abcdef";
  });
  await repeats.once(request(false), change);
  await repeats.once(request(true), change);
  const rows = await database.admin("select id, outcome, claimed_at from shop.handled_requests");
  const all = Buffer.concat(rows.flatMap(({ id, outcome }) => [id as Buffer, (outcome ?? id) as Buffer]));
  assert.equal(all.includes("cookie"), false);
  assert.equal(all.includes("request-"), false);
  await database.admin("update shop.handled_requests set claimed_at = now() - interval '11 minutes'");
  await add("kept");
  await prune(store.db);
  assert.deepEqual(await database.admin("select id from shop.handled_requests"), []);
});
