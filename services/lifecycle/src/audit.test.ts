// No change without its audit entry, wherever the replica that made it is killed.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { KubeError } from "@svc/kube";
import { faultOf } from "@svc/mesh/testing";
import { type AuditEntry, Fault, type FaultName } from "@svc/proto";
import type { Store } from "@svc/store";
import { createTestDatabase, type TestDatabase } from "@svc/store/testing";
import { command } from "./console/command.ts";
import type { ConsoleDeps } from "./console/deps.ts";
import type { Tables } from "./database/schema.ts";
import { changeAllowlist } from "./ownership/change-allowlist.ts";
import { claim } from "./ownership/claim.ts";
import type { OwnershipDeps } from "./ownership/deps.ts";
import { createListStore } from "./ownership/list-store.ts";
import { retire } from "./ownership/retire.ts";
import { createOwnershipStore } from "./ownership/store.ts";
import { stop } from "./server/stop.ts";
import { createServerStore } from "./server/store.ts";
import { wake } from "./server/wake.ts";
import { createWakeReservations } from "./server/wake-reservations.ts";
import { noLimits } from "./testing/fake-services.ts";
import { readAudits } from "./testing/fixture.ts";
import { aServer, defaults, emptyRunning } from "./testing/observed.ts";

const player = "11111111-2222-4333-8444-555555555555";
const name = "survival";

let database: TestDatabase;
let tables: Store<Tables>;
before(async () => {
  const migrations = new URL("../migrations/", import.meta.url).pathname;
  database = await createTestDatabase({ schema: "lifecycle", migrations });
  tables = database.open<Tables>();
});
after(async () => {
  await tables.close();
  await database.drop();
});

const staff = { kind: "account", user_id: "usr-1", username: "one", role: "admin", staff: true } as const;
const context = {
  principal: staff,
  client: {},
  requestId: "req-1",
  fault: (fault: FaultName) => new Fault(fault),
  log: { warn: () => {} },
};

/** The process is killed here: what was called neither answers nor fails. */
const killed = () => new Promise<never>(() => {});

type Cluster = { patch: () => Promise<unknown>; desiredState: "Running" | "Stopped" };

/** Dependencies of a replica whose cluster is `cluster`; `after` runs once a store's call has committed. */
function depsWith(cluster: Cluster, afterCommit: () => Promise<void> = killed) {
  const server = { ...aServer({ desiredState: cluster.desiredState }), status: { phase: "Stopped" } };
  const committed =
    <A extends unknown[], R>(work: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      const result = await work(...args);
      await afterCommit();
      return result;
    };
  const ownership = createOwnershipStore(tables);
  const lists = createListStore(tables);
  return {
    kube: { patch: cluster.patch, find: async () => server, list: async () => ({ items: [] }) },
    mesh: {
      call: async () => ({ mc_uuids: [player], limits: noLimits, active: true }),
      audit: () => assert.fail("an entry of a change must not be sent best effort"),
    },
    store: createServerStore(tables),
    servers: { get: () => server, list: () => [server], remember: () => {} },
    settings: defaults,
    namespace: "minecraft",
    ownership: { ...ownership, claim: committed(ownership.claim), retire: committed(ownership.retire) },
    lists: { ...lists, setWakeRight: committed(lists.setWakeRight) },
    waking: createWakeReservations(),
    limitClaims: <T>(work: () => Promise<T>) => work(),
  } as unknown as OwnershipDeps;
}

async function reset(): Promise<void> {
  for (const table of ["outbox", "server_changes", "servers"])
    await database.admin(`delete from lifecycle.${table}`);
  await createServerStore(tables).adopt({ name, subdomain: name, offered: true });
}

const audits = async (action: string) => (await readAudits(database)).filter((e) => e.action === action);
const sweep = () => createServerStore(tables).audits.sweep(0);
const outcomes = (entries: readonly AuditEntry[]) => entries.map(({ payload }) => payload["outcome"]);

/** Runs a handler until its process is killed. */
async function runUntilKilled(start: (die: () => Promise<never>) => Promise<unknown>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const die = () => {
    resolve();
    return killed();
  };
  await Promise.race([promise, start(die).then(() => assert.fail("the process was not killed"))]);
}

describe("a replica that is killed after the commit", () => {
  const cluster: Cluster = { patch: async () => aServer(), desiredState: "Stopped" };
  const changes: [action: string, run: (deps: OwnershipDeps) => unknown][] = [
    ["server.claim", (deps) => claim(deps)(context as never, { name })],
    ["server.release", (deps) => retire(deps)(context as never, { name, confirm: name })],
    [
      "allowlist.revoke",
      (deps) => changeAllowlist(deps)(context as never, { name, uuid: player, can_wake: false }),
    ],
  ];
  for (const [action, run] of changes) {
    test(`leaves the entry of ${action} in the outbox`, async () => {
      await reset();
      await database.admin("insert into lifecycle.server_allowlist (server_name, mc_uuid) values ($1, $2)", [
        name,
        player,
      ]);
      await runUntilKilled(async (die) => run(depsWith(cluster, die)));
      const [entry, ...more] = await audits(action);
      assert.deepEqual([entry?.actor, entry?.server_name, more], ["one", name, []]);
    });
  }
});

describe("a change of the cluster", () => {
  const running = (patch: () => Promise<unknown>) => depsWith({ patch, desiredState: "Running" });
  const resting = (patch: () => Promise<unknown>) => depsWith({ patch, desiredState: "Stopped" });

  for (const when of ["before", "after"] as const) {
    test(`whose replica is killed ${when} the write leaves its entry with an unknown outcome, once`, async () => {
      await reset();
      let isWritten = false;
      await runUntilKilled(async (die) => {
        const patch = async () => {
          isWritten = when === "after";
          return die();
        };
        await stop(running(patch))(context as never, { name });
      });
      assert.equal(isWritten, when === "after");
      assert.deepEqual(await audits("server.stop"), []);
      await Promise.all([sweep(), sweep()]);
      assert.deepEqual(outcomes(await audits("server.stop")), ["unknown"]);
      assert.equal(await sweep(), 0);
    });
  }

  test("that was made has its entry once, without an outcome, and nothing is left to sweep", async () => {
    await reset();
    await stop(running(async () => aServer()))(context as never, { name });
    await wake(resting(async () => aServer()))(context as never, { name });
    assert.equal(await sweep(), 0);
    assert.deepEqual(outcomes(await audits("server.stop")), [undefined]);
    assert.deepEqual(outcomes(await audits("server.wake")), [undefined]);
  });

  test("that the cluster rejects has no entry", async () => {
    await reset();
    const rejected = running(() => Promise.reject(new KubeError(403, "Forbidden", "no")));
    await assert.rejects(async () => stop(rejected)(context as never, { name }));
    assert.equal(await sweep(), 0);
    assert.deepEqual(await audits("server.stop"), []);
  });

  test("whose answer was lost has an entry with an unknown outcome", async () => {
    await reset();
    const lost = running(() => Promise.reject(new KubeError(504, "Timeout", "no answer")));
    await assert.rejects(async () => stop(lost)(context as never, { name }));
    assert.equal(await sweep(), 1);
    assert.deepEqual(outcomes(await audits("server.stop")), ["unknown"]);
  });

  test("that was a wake whose replica is killed after the write leaves its entry", async () => {
    await reset();
    await runUntilKilled(async (die) => wake(resting(die))(context as never, { name }));
    await sweep();
    assert.deepEqual(outcomes(await audits("server.wake")), ["unknown"]);
  });

  test("that was a wake taken back by a retirement has no entry", async () => {
    await reset();
    const patch = async () => {
      await database.admin("update lifecycle.servers set retire_requested_at = now()");
      return aServer();
    };
    const woken = (async () => wake(resting(patch))(context as never, { name }))();
    assert.equal(await faultOf(woken), "server_retiring");
    assert.equal(await sweep(), 0);
    assert.deepEqual(await audits("server.wake"), []);
  });
});

test("a command has its entry before it is sent", async () => {
  await reset();
  const deps = {
    ...depsWith({ patch: killed, desiredState: "Running" }),
    servers: { get: () => ({ ...aServer(), status: emptyRunning }) },
    mesh: { publishLiveLine: async () => {}, audit: () => assert.fail() },
  };
  await runUntilKilled(async (die) => {
    const rcon = { run: die };
    await command({ ...deps, rcon } as unknown as ConsoleDeps)(context as never, { name, command: "say hi" });
  });
  const [entry] = await audits("console.command");
  assert.deepEqual([entry?.actor, entry?.payload], ["one", { command: "say hi" }]);
});
