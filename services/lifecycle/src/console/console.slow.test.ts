// Consoles and access against a real game server in the embedded cluster.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { testProgram } from "@svc/config/test-program";
import { resources } from "@svc/kube";
import type { CallOptions } from "@svc/mesh";
import { account, faultOf, staff, until } from "@svc/mesh/testing";
import { consoles as contracts, type StreamTicket, servers as serverContracts } from "@svc/proto";
import { connectRcon, type RconClient } from "@svc/rcon";
import { servers } from "../cluster/resource.ts";
import { serviceOf } from "../reconcile/objects.ts";
import { type Fixture, namespace, openFixture, type Replica } from "../testing/fixture.ts";

const overrides = [
  "lifecycle.stop_notice=100ms",
  "lifecycle.wake_cooldown=0s",
  "lifecycle.console_lease=1500ms",
  "lifecycle.console_renew=200ms",
  "lifecycle.console_poll=50ms",
];
/** No faster than `console_lines_per_second`: lines beyond it are omitted, however long the other replica takes. */
const sayEveryMs = 10;
const owner = account("usr-owner");
const stranger = account("usr-stranger");
const name = "shown";

let fixture: Fixture;
let replica: Replica;
let rcon: RconClient;

before(async () => {
  fixture = await openFixture();
  replica = await fixture.start(overrides);
  await create(name, "svc.local/demo-server:1.21.4");
  await create("asleep", "svc.local/nothing:1");
  await fixture.database.admin("update lifecycle.servers set owner_id = 'usr-owner'");
  await makeService();
  await wake();
});
after(async () => {
  await rcon?.close();
  await fixture?.close();
});

// The clusters of other test processes assign the same loopback addresses in order; ours is random.
async function makeService(): Promise<void> {
  const service = serviceOf(await fixture.kube.get(servers, { name, namespace }), true);
  const clusterIP = `127.${randomInt(100, 111)}.${randomInt(1, 255)}.${randomInt(1, 255)}`;
  await fixture.kube.create(resources.services, { ...service, spec: { ...service.spec, clusterIP } });
}

const create = (called: string, image: string) =>
  fixture.external.call(serverContracts.create, { name: called, subdomain: called, image }, staff);

/** lifecycle as it ships, in a process of its own that can be killed. */
function startProcess(): { isReady: () => boolean; kill: () => Promise<void> } {
  const main = testProgram(fileURLToPath(new URL("../main.ts", import.meta.url)));
  const child = spawn(process.execPath, [main], {
    env: {
      ...process.env,
      SVC_NATS_URL: fixture.nats.url,
      SVC_NATS_PASSWORD: fixture.nats.passwords["lifecycle"],
      SVC_DATABASE_URL: fixture.database.url,
      SVC_KUBECONFIG: fixture.serviceKubeconfig,
      SVC_SET: overrides.join("\n"),
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let log = "";
  child.stdout.on("data", (chunk) => (log += chunk));
  const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  return {
    isReady: () => {
      assert.equal(child.exitCode, null, log);
      return log.includes('"msg":"ready"');
    },
    kill: () => {
      child.kill("SIGKILL");
      return gone;
    },
  };
}

async function wake(): Promise<void> {
  await fixture.external.call(serverContracts.wake, { name }, owner);
  await until(
    async () => (await fixture.kube.get(servers, { name, namespace })).status?.phase === "Running",
    60_000,
  );
  const { status } = await fixture.kube.get(servers, { name, namespace });
  const secret = await fixture.kube.get(resources.secrets, { name: `${name}-rcon`, namespace });
  const host = status?.endpoint?.address?.split(":")[0] ?? "";
  const password = Buffer.from(secret.data?.["password"] ?? "", "base64").toString();
  await rcon?.close();
  rcon = await connectRcon({ host, port: 25_575, password });
}

type Viewer = { lines: string[]; isOver: () => boolean; leave: () => Promise<void>; ticket: StreamTicket };

async function view(who: CallOptions = owner, more: Partial<StreamTicket> = {}): Promise<Viewer> {
  const { stream } = await fixture.external.forward(contracts.watch, { name }, who);
  assert.ok(stream);
  const ticket = { ...stream, ...more };
  const stop = new AbortController();
  const lines: string[] = [];
  let isOver = false;
  const reading = (async () => {
    for await (const { line, isLast } of fixture.external.readLiveLog(ticket, stop.signal)) {
      lines.push(Buffer.from(line).toString());
      if (isLast) break;
    }
    isOver = true;
  })();
  const leave = async () => {
    stop.abort();
    await reading;
  };
  return { lines, isOver: () => isOver, leave, ticket };
}

const has = (viewer: Viewer, text: string) => viewer.lines.some((line) => line.includes(text));
const follows = async (one: Replica) =>
  Number(/^svc_console_follows(?:\{[^}]*\})? (\d+)$/m.exec(await one.registry.metrics())?.[1]);
const audited = async (action: string) => (await fixture.audits()).filter((entry) => entry.action === action);

type Ask = (called: string, who: CallOptions) => Promise<unknown>;
const asks: Record<string, Ask> = {
  console: (called, who) => fixture.external.call(contracts.watch, { name: called }, who),
  command: (called, who) => fixture.external.call(contracts.command, { name: called, command: "list" }, who),
  "the whitelist": (called, who) => fixture.external.call(contracts.listWhitelist, { name: called }, who),
  "a change of the whitelist": (called, who) =>
    fixture.external.call(contracts.changeWhitelist, { name: called, action: "add", player: "eve" }, who),
  players: (called, who) => fixture.external.call(contracts.listPlayers, { name: called }, who),
  bans: (called, who) => fixture.external.call(contracts.listBans, { name: called }, who),
  "a ban": (called, who) =>
    fixture.external.call(contracts.changeBan, { name: called, action: "ban", player: "eve" }, who),
  "a kick": (called, who) => fixture.external.call(contracts.kick, { name: called, player: "eve" }, who),
  "a permission": (called, who) =>
    fixture.external.call(
      contracts.changePermission,
      { name: called, action: "set", player: "eve", node: "a.b" },
      who,
    ),
  "a group": (called, who) =>
    fixture.external.call(
      contracts.changeGroup,
      { name: called, action: "add", player: "eve", group: "g" },
      who,
    ),
  LuckPerms: (called, who) =>
    fixture.external.call(contracts.readLuckPerms, { name: called, player: "eve" }, who),
};

for (const [what, ask] of Object.entries(asks)) {
  test(`${what}: others are refused, as are unknown names and servers that are not running`, async () => {
    assert.equal(await faultOf(ask(name, stranger)), "forbidden");
    assert.equal(await faultOf(ask("asleep", stranger)), "forbidden");
    assert.equal(await faultOf(ask("lobby", staff)), "bad_name");
    assert.equal(await faultOf(ask("nowhere", staff)), "not_found");
    assert.equal(await faultOf(ask("asleep", owner)), "not_running");
  });
}

describe("the console", () => {
  test("the first viewer sees the last lines, then every new line", async () => {
    const viewer = await view();
    await until(() => has(viewer, "Done ("));
    await rcon.command("say hello viewers");
    await until(() => has(viewer, "hello viewers"));
    await viewer.leave();
  });

  test("a command returns its output, its echo is shown to viewers, and it is audited", async () => {
    const viewer = await view(staff);
    const answer = await fixture.external.call(contracts.command, { name, command: " /list" }, owner);
    assert.deepEqual(answer, { name, output: "There are 0 of a max of 20 players online: " });
    await until(() => has(viewer, "usr-owner > list"));
    await until(async () => (await audited("console.command")).length === 1);
    const [entry] = await audited("console.command");
    assert.deepEqual(entry?.payload, { command: "list" });
    assert.equal(entry?.server_name, name);
    assert.equal(entry?.actor_user_id, "usr-owner");
    await viewer.leave();
  });

  test("a second command cannot be smuggled in behind the first", async () => {
    for (const command of ["say a\nban eve", "say a\rban eve", "say a\u2028ban eve", "say a\0ban eve"])
      assert.equal(
        await faultOf(fixture.external.call(contracts.command, { name, command }, owner)),
        "bad_request",
      );
    assert.equal(await rcon.command("banlist"), "There are no bans");
  });

  test("concurrent commands all get their own reply", async () => {
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        fixture.external.call(contracts.command, { name, command: n % 2 ? "list" : "banlist" }, owner),
      ),
    );
    for (const [n, { output }] of answers.entries())
      assert.match(output, n % 2 ? /players online/ : /no bans/);
  });

  test("one replica follows, whichever was called, and no line is repeated", async () => {
    const second = await fixture.start(overrides);
    const viewers = await Promise.all(Array.from({ length: 12 }, (_, n) => view(n % 2 ? owner : staff)));
    for (let n = 0; n < 30; n++) await rcon.command(`say shared ${n};`);
    for (const viewer of viewers) {
      await until(() => has(viewer, "shared 29;"));
      const shared = viewer.lines.filter((line) => line.includes("shared "));
      assert.equal(shared.length, 30);
    }
    assert.equal((await follows(replica)) + (await follows(second)), 1);
    await Promise.all(viewers.map((viewer) => viewer.leave()));
    await second.stop();
  });

  test("when the following replica is stopped another continues at once, without losing or repeating a line", async () => {
    const follower = await fixture.start(overrides);
    await fixture.database.admin("delete from lifecycle.console_follows");
    await until(async () => (await follows(replica)) === 0);
    // Whichever is called follows; the other one is stopped or continues.
    const viewer = await view(owner, { tail: 0 });
    let said = 0;
    let isSaying = true;
    const saying = (async () => {
      while (isSaying) {
        await rcon.command(`say line ${said++};`);
        await delay(sayEveryMs);
      }
    })();
    await until(() => has(viewer, "line 20;"));
    const leaving = (await follows(follower)) === 1 ? follower : replica;
    await leaving.stop();
    const atStop = said;
    await until(() => has(viewer, `line ${atStop + 20};`));
    isSaying = false;
    await saying;
    await until(() => has(viewer, `line ${said - 1};`));
    const numbers = viewer.lines.flatMap((line) => Number(/line (\d+);/.exec(line)?.[1] ?? Number.NaN));
    const seen = numbers.filter((number) => !Number.isNaN(number));
    assert.deepEqual(seen, Array.from({ length: said }, (_, n) => n).slice(seen[0]));
    await viewer.leave();
    if (leaving === replica) replica = follower;
  });

  test("when the following process is killed another continues within seconds, without losing or repeating a line", async () => {
    const follower = startProcess();
    await until(() => follower.isReady(), 30_000);
    await replica.stop();
    await fixture.database.admin("delete from lifecycle.console_follows");
    const viewer = await view(owner, { tail: 0 });
    replica = await fixture.start(overrides);
    let said = 0;
    let isSaying = true;
    const saying = (async () => {
      while (isSaying) {
        await rcon.command(`say killed ${said++};`);
        await delay(sayEveryMs);
      }
    })();
    await until(() => has(viewer, "killed 20;"));
    assert.equal(await follows(replica), 0);
    await follower.kill();
    await until(async () => (await follows(replica)) === 1);
    const atTakeOver = said;
    await until(() => has(viewer, `killed ${atTakeOver + 20};`));
    isSaying = false;
    await saying;
    await until(() => has(viewer, `killed ${said - 1};`));
    const seen = viewer.lines.flatMap((line) => /killed (\d+);/.exec(line)?.[1] ?? []).map(Number);
    assert.deepEqual(
      seen,
      Array.from({ length: said }, (_, n) => n),
    );
    await viewer.leave();
  });

  test("a viewer who comes back with the second of the last line gets all lines since, also when nobody watched in between", async () => {
    const viewer = await view();
    await rcon.command("say before;");
    await until(() => has(viewer, "before;"));
    const since = Math.floor(Date.now() / 1_000);
    await viewer.leave();
    await fixture.database.admin("update lifecycle.console_follows set wanted_until = now()");
    await until(async () => (await follows(replica)) === 0);
    for (let n = 0; n < 150; n++) await rcon.command(`say unseen ${n};`);
    const again = await view(owner, { since });
    await until(() => has(again, "unseen 149;"));
    assert.equal(again.lines.filter((line) => line.includes("unseen ")).length, 150);
    await again.leave();
  });

  test("the stream ends with a note when the server stops, and starts again with the next start", async () => {
    const viewer = await view();
    await rcon.close();
    await fixture.external.call(serverContracts.stop, { name }, owner);
    await until(() => viewer.isOver(), 30_000);
    assert.equal(viewer.lines.at(-1), "The server has stopped.");
    assert.ok(has(viewer, "All dimensions are saved"), "its last words came before");
    assert.equal(await faultOf(fixture.external.call(contracts.watch, { name }, owner)), "not_running");
    assert.deepEqual(await fixture.database.admin("select * from lifecycle.console_follows"), []);
    await wake();
    const next = await view();
    await until(() => next.lines.filter((line) => line.includes("Done (")).length > 0);
    assert.equal(next.isOver(), false);
    await next.leave();
  });
});

describe("access", () => {
  test("a player is added to the whitelist, listed and removed", async () => {
    const change = (action: "add" | "remove") =>
      fixture.external.call(contracts.changeWhitelist, { name, action, player: "Dave_1" }, owner);
    assert.deepEqual(await change("add"), {
      ...{ name, action: "add", player: "Dave_1" },
      output: "Added Dave_1 to the whitelist",
    });
    const listed = await fixture.external.call(contracts.listWhitelist, { name }, owner);
    assert.deepEqual(listed.players, ["Dave_1"]);
    await change("remove");
    assert.deepEqual((await fixture.external.call(contracts.listWhitelist, { name }, staff)).players, []);
    const entries = (await audited("access.whitelist")).filter(({ actor }) => actor === "usr-owner");
    assert.ok(entries.length >= 2);
  });

  test("a player is banned, listed and pardoned", async () => {
    const change = (action: "ban" | "pardon") =>
      fixture.external.call(contracts.changeBan, { name, action, player: "mallory" }, owner);
    assert.equal((await change("ban")).output, "Banned mallory: Banned by an operator.");
    assert.deepEqual((await fixture.external.call(contracts.listBans, { name }, owner)).players, ["mallory"]);
    assert.equal((await change("pardon")).output, "Unbanned mallory");
    assert.deepEqual((await fixture.external.call(contracts.listBans, { name }, owner)).players, []);
  });

  test("online players are listed, and a kick of an offline player says so", async () => {
    const list = await fixture.external.call(contracts.listPlayers, { name }, owner);
    assert.deepEqual({ ...list, output: "" }, { name, online: 0, max: 20, players: [], output: "" });
    const kicked = await fixture.external.call(contracts.kick, { name, player: "alice" }, owner);
    assert.deepEqual(kicked, { name, player: "alice", output: "No player was found" });
  });

  test("without LuckPerms its operations say that it is missing", async () => {
    const permission = {
      name,
      action: "set",
      player: "alice",
      node: "essentials.*",
      world: "world_nether",
    } as const;
    assert.equal(
      await faultOf(fixture.external.call(contracts.changePermission, permission, owner)),
      "luckperms_missing",
    );
    const group = { name, action: "add", player: "alice", group: "builder" } as const;
    assert.equal(
      await faultOf(fixture.external.call(contracts.changeGroup, group, owner)),
      "luckperms_missing",
    );
    assert.equal(
      await faultOf(fixture.external.call(contracts.readLuckPerms, { name, player: "alice" }, owner)),
      "luckperms_missing",
    );
  });

  const wrong: Record<string, () => Promise<unknown>> = {
    "a selector as a player": () => kick("@a"),
    "a player with a space": () => kick("alice bob"),
    "a player with a line break": () => kick("alice\nop"),
    "a name of 17": () => kick("x".repeat(17)),
    "an empty name": () => kick(""),
    "a permission with a space": () => set({ node: "a b" }),
    "a permission with a quote": () => set({ node: 'a"b' }),
    "a world with a second context": () => set({ node: "a", world: "nether server=x" }),
    "a world with an equals sign": () => set({ node: "a", world: "a=b" }),
    "a value for unset": () => set({ node: "a", action: "unset", value: true }),
    "a group with a slash": () =>
      fixture.external.call(contracts.changeGroup, { name, action: "add", player: "a", group: "a/b" }, owner),
  };
  const kick = (player: string) => fixture.external.call(contracts.kick, { name, player }, owner);
  const set = (more: { node: string; world?: string; action?: "unset"; value?: boolean }) =>
    fixture.external.call(
      contracts.changePermission,
      { name, action: "set", player: "alice", ...more },
      owner,
    );
  for (const [fact, ask] of Object.entries(wrong)) {
    test(`${fact} is refused`, async () => assert.equal(await faultOf(ask()), "bad_request"));
  }
});
