// LuckPerms replies behind a real RCON port.

import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import type { Context } from "@svc/mesh";
import { faultOf } from "@svc/mesh/testing";
import { type AnyContract, Fault, type FaultName, type FaultOptions } from "@svc/proto";
import type { Audit } from "../database/audit.ts";
import { createRconFixture, type RconFixture } from "../testing/console/rcon-fixture.ts";
import { defaults } from "../testing/observed.ts";
import type { ConsoleDeps } from "./deps.ts";
import { changeGroup, changePermission, readLuckPerms } from "./luck-perms.ts";
import { createServerRcon } from "./rcon.ts";

let fixture: RconFixture;
let deps: ConsoleDeps;
let ran: string[];
const audited: string[] = [];

beforeEach(() => {
  fixture = createRconFixture();
  ran = [];
  deps = {
    ...{ settings: defaults, kube: fixture.kube, namespace: "minecraft" },
    servers: { get: () => fixture.server },
    store: {
      find: async () => ({ ownerId: "usr-1", retiring: undefined }),
      audits: { record: async ({ action }: Audit) => void audited.push(action) },
    },
    rcon: createServerRcon({ kube: fixture.kube, settings: defaults }),
  } as unknown as ConsoleDeps;
});
afterEach(async () => {
  await deps.rcon.close();
  await fixture.close();
});

const context = {
  principal: {
    kind: "account",
    user_id: "usr-1",
    username: "one",
    role: "user",
    staff: false,
    setup: false,
    session: "",
  },
  client: { address: "", userAgent: "" },
  requestId: "r",
  fault: (name: FaultName, options?: FaultOptions) => new Fault(name, options),
} as unknown as Context<AnyContract>;
const answering = (reply: (command: string) => string) =>
  fixture.start((command) => {
    ran.push(command);
    return reply(command);
  });
const read = async () => readLuckPerms(deps)(context as never, { name: "survival", player: "alice" });

const perPage = 19;
function page(all: readonly string[], number: number): string {
  const pages = Math.ceil(all.length / perPage);
  const head = `§8§l[§b§lL§3§lP§8§l]§r §balice's Permissions:  §7(page §f${number}§7 of §f${pages}§7 - §f${all.length}§7 entries)`;
  return [head, ...all.slice((number - 1) * perPage, number * perPage).map((node) => `§3> §a${node} `)].join(
    "\n",
  );
}
const pageOf = (command: string) => Number(/ info (\d+)$/.exec(command)?.[1] ?? 1);

test("all pages are read and merged", async () => {
  const nodes = ["group.builder", ...Array.from({ length: 40 }, (_, n) => `node.${n}`)];
  await answering((command) => page(nodes, pageOf(command)));
  const found = await read();
  assert.deepEqual(ran, [
    "lp user alice permission info",
    "lp user alice permission info 2",
    "lp user alice permission info 3",
  ]);
  assert.deepEqual(found.groups, ["builder"]);
  assert.equal(found.permissions.length, 40);
  assert.equal(found.output.match(/page §f/g)?.length, 3);
});

test("at most ten pages are read", async () => {
  const nodes = Array.from({ length: 1_000 }, (_, n) => `node.${n}`);
  await answering((command) => page(nodes, pageOf(command)));
  assert.equal((await read()).permissions.length, 10 * perPage);
  assert.equal(ran.length, 10);
});

test("no reply is not the same as no permission", async () => {
  await answering(() => "");
  assert.equal(await faultOf(read()), "unavailable");
});

test("a server without LuckPerms is recognized by its reply", async () => {
  await answering(() => 'Unknown command. Type "/help" for help.');
  assert.equal(await faultOf(read()), "luckperms_missing");
});

test("permissions and groups are changed by the commands of the specification", async () => {
  await answering(() => "[LP] Done.");
  const about = { name: "survival", player: "alice" };
  const change = (more: object) => changePermission(deps)(context as never, { ...about, ...more } as never);
  await change({ action: "set", node: "a.b" });
  await change({ action: "set", node: "a.b", value: false, world: "nether" });
  await change({ action: "unset", node: "a.b", world: "nether" });
  for (const action of ["add", "remove"] as const)
    assert.deepEqual(await changeGroup(deps)(context as never, { ...about, action, group: "builder" }), {
      ...about,
      action,
      group: "builder",
      output: "[LP] Done.",
    });
  assert.deepEqual(ran, [
    "lp user alice permission set a.b true",
    "lp user alice permission set a.b false world=nether",
    "lp user alice permission unset a.b world=nether",
    "lp user alice parent add builder",
    "lp user alice parent remove builder",
  ]);
  assert.equal(audited.length, 5);
});
