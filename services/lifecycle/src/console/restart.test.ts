import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Context } from "@svc/mesh";
import { faultOf } from "@svc/mesh/testing";
import { type servers as contracts, Fault, type Principal } from "@svc/proto";
import { annotation } from "../cluster/resource.ts";
import { readAudits } from "../testing/fixture.ts";
import {
  openScheduleFixture,
  running,
  type ScheduleFixture,
  stopped,
} from "../testing/schedule/schedule-fixture.ts";
import { restart } from "./restart.ts";

let fixture: ScheduleFixture;
before(async () => {
  fixture = await openScheduleFixture();
});
after(() => fixture.close());

type Who = Extract<Principal, { kind: "account" }>;
type Deps = Parameters<typeof restart>[0];
const owner: Who = {
  ...{ kind: "account", user_id: "usr-1", username: "ada", role: "user", staff: false },
  ...{ setup: false, session: "" },
};
const fault = (...about: ConstructorParameters<typeof Fault>) => new Fault(...about);
const log = { warn: () => {} };

function ask(name: string, who: Who = owner, deps: Deps = fixture.deps) {
  const context = { principal: who, client: {}, requestId: "req-1", fault, log };
  return Promise.resolve(restart(deps)(context as unknown as Context<typeof contracts.restart>, { name }));
}

const requestOf = async (name: string) =>
  (await fixture.getServer(name)).metadata.annotations?.[annotation.restart];
const auditsOf = async (name: string) =>
  (await readAudits(fixture.base.database)).filter((entry) => entry.server_name === name);

test("an empty server is asked to restart at once, and nobody is told", async () => {
  await fixture.makeServer("empty");
  const before = fixture.commands.length;
  const { restart_at } = await ask("empty");
  assert.equal(await requestOf("empty"), restart_at);
  assert.ok(Math.abs(Date.parse(restart_at) - Date.now()) < 10_000);
  assert.equal(fixture.commands.length, before);
  assert.deepEqual(
    (await auditsOf("empty")).map(({ action }) => action),
    ["server.restart"],
  );
});

test("players are told once, and a repeat neither tells them again nor moves the time", async () => {
  await fixture.makeServer("busy", { ...running, online: 2 });
  const { restart_at } = await ask("busy");
  assert.ok(Date.parse(restart_at) > Date.now() + 20_000);
  assert.deepEqual(await ask("busy"), { name: "busy", restart_at });
  const told = fixture.commands.filter((command) => /restarts in 30 seconds/.test(command));
  assert.equal(told.length, 1);
  assert.equal((await auditsOf("busy")).length, 1);
  assert.equal((await fixture.getServer("busy")).spec.desiredState, "Running", "it stays on meanwhile");
});

test("a server that cannot be told restarts all the same", async () => {
  await fixture.makeServer("silent", { ...running, online: 1 });
  const rcon = { ...fixture.deps.rcon, run: () => Promise.reject(new Fault("unavailable")) };
  const { restart_at } = await ask("silent", owner, { ...fixture.deps, rcon });
  assert.equal(await requestOf("silent"), restart_at);
});

test("whoever dies once the request is written has it carried out and recorded once", async () => {
  await fixture.makeServer("killed", { ...running, online: 1 });
  const kube = {
    ...fixture.deps.kube,
    patch: async (...call: Parameters<typeof fixture.deps.kube.patch>) => {
      await fixture.deps.kube.patch(...call);
      throw new Error("killed");
    },
  } as Deps["kube"];
  await assert.rejects(ask("killed", owner, { ...fixture.deps, kube }), /killed/);
  const written = await requestOf("killed");
  fixture.deps.servers.remember(await fixture.getServer("killed"));
  assert.equal((await ask("killed")).restart_at, written);
  await fixture.deps.store.audits.sweep(0);
  assert.equal((await auditsOf("killed")).length, 1);
});

test("what does not run, others and names that are wrong are refused", async () => {
  await fixture.makeServer("asleep", stopped);
  assert.equal(await faultOf(ask("asleep")), "not_running");
  assert.equal(await requestOf("asleep"), undefined);
  assert.equal(await faultOf(ask("empty", { ...owner, user_id: "usr-2" })), "forbidden");
  assert.equal(await faultOf(ask("lobby")), "bad_name");
  assert.equal(await faultOf(ask("nothing")), "not_found");
  assert.equal((await auditsOf("asleep")).length, 0);
});
