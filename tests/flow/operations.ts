// What `svc` says about servers, alerts, updates, bundles and off-site copies of a stack that runs.

import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectKube, resource } from "@svc/kube";
import { until } from "@svc/local-stack/testing";
import { startS3Server } from "@svc/object-store/testing";
import { MinecraftServer } from "@svc/proto";
import { startNameServer } from "./name-server.ts";
import type { Stack } from "./stack.ts";

type Ran = { code: number; stderr: string; value: Record<string, unknown> };
type Run = (...args: string[]) => Promise<Ran>;

/** Runs `svc … --json` whatever its exit code. */
function runOf(stack: Stack): Run {
  return async (...args) => {
    const { code, stdout, stderr } = await stack.svc(...args, "--json");
    return { code, stderr, value: stdout === "" ? {} : JSON.parse(stdout) };
  };
}

/** A bucket for a stack: what `svc up` is given, and what its environment must hold. */
export async function openBucket(): Promise<{ args: string[]; stop: () => Promise<void> }> {
  const s3 = await startS3Server();
  const dir = mkdtempSync(join(tmpdir(), "svc-bucket-"));
  const { accessKey, secretKey, region, endpoint = "" } = s3.options();
  process.env["SVC_OFFSITE_ACCESS_KEY"] = accessKey;
  process.env["SVC_OFFSITE_SECRET_KEY"] = secretKey;
  const set = { bucket: "copies", region, endpoint, key_file: join(dir, "offsite.key") };
  return {
    // No bundle and no pass but those of the tests.
    args: [
      "ops_watchdog.first_tick=1h",
      ...Object.entries(set).map(([key, value]) => `offsite.${key}=${value}`),
    ].flatMap((line) => ["--set", line]),
    stop: async () => {
      await s3.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** Steps of an update and the way back, before and after there is a bundle. */
export async function assertUpdates(stack: Stack): Promise<void> {
  const run = runOf(stack);
  const none = await run("update", "rollback");
  assert.deepEqual([none.code, none.value["kind"]], [1, "none"]);
  assert.equal((await run("update", "plan", "nonsense")).code, 2);
  const checked = await run("update", "--record");
  assert.deepEqual([checked.code, checked.value["recorded"]], [0, true]);
  const taken = await run("db", "backup");
  assert.equal(taken.code, 0, taken.stderr);
  const { name } = taken.value;
  const plan = await stack.svc("update", "plan", "platform");
  assert.equal(plan.code, 0, plan.stderr);
  assert.match(plan.stdout, /^ {2}1\. Take a bundle and read it back$/m);
  assert.match(plan.stdout, /CANNOT BE UNDONE\. Migrations only go forward\./);
  assert.match(plan.stdout, /This build has no pending migrations/);
  assert.ok(plan.stdout.includes(`The newest bundle is ${name}`));
  const planned = await run("update", "plan", "proxy", "postgresql");
  const components = planned.value["components"] as { name: string }[];
  assert.deepEqual(
    components.map((one) => one.name),
    ["postgresql", "proxy"],
  );
  const back = await run("update", "rollback");
  assert.deepEqual([back.code, back.value["kind"], back.value["release"]], [0, "reinstall", "0.1.0"]);
}

/** Alerts by hand, on the state that the running service shows too. */
export async function assertAlerts(stack: Stack): Promise<void> {
  const run = runOf(stack);
  const dry = await watch(run, "--dry-run");
  assert.deepEqual([dry.code, dry.value["state"], dry.value["held"]], [0, "not_written", null]);
  const begun = Date.now();
  const watched = await watch(run);
  assert.deepEqual([watched.code, watched.value["state"]], [0, "saved"], watched.stderr);
  assert.ok((await metric(stack, "svc_watchdog_last_run_timestamp_seconds")) * 1_000 >= begun);

  assert.equal((await run("alerts", "silence", "*", "--hours", "9999", "--reason", "x")).code, 2);
  const silenced = await run("alerts", "silence", "server/*", "--hours", "1", "--reason", "moving");
  const { code, value } = await run("alerts", "list");
  const { alerts, silences, mail } = value as {
    alerts: { state: string }[];
    silences: { id: string; key: string; by: string }[];
    mail: { recipients: number };
  };
  assert.equal(code, alerts.some(({ state }) => state === "firing") ? 1 : 0);
  assert.deepEqual(
    silences.map(({ id, key, by }) => [id, key, by]),
    [[silenced.value["id"], "server/*", "host"]],
  );
  assert.equal(mail.recipients, 1);
  assert.equal((await run("alerts", "end-silence", String(silenced.value["id"]))).code, 0);
  const again = await run("alerts", "end-silence", String(silenced.value["id"]));
  assert.deepEqual([again.code, /no such silence/.test(again.stderr)], [1, true]);
  assert.match((await run("alerts", "acknowledge", "nothing/here")).stderr, /No such alert fires/);
  const { entries } = (await run("alerts", "history")).value as { entries: { what: string }[] };
  assert.deepEqual(
    entries.slice(0, 2).map(({ what }) => what),
    ["silence_ended", "silenced"],
  );
  const tested = await run("alerts", "test");
  assert.deepEqual(
    [tested.code, tested.value["deliveries"]],
    [0, [{ name: "mail", ok: true }]],
    tested.stderr,
  );
  await until(() => hasMail(stack, /^Subject: svc test alert/m), 15_000, "the mail of the test");
  assert.equal((await run("alerts", "test")).code, 1);
}

/** The service may be at a run of its own. */
function watch(run: Run, ...args: string[]): Promise<Ran> {
  const once = async () => {
    const ran = await run("watchdog", ...args);
    return /another run/.test(ran.stderr) ? undefined : ran;
  };
  return until(once, 120_000, "the run of the service to end");
}

async function metric(stack: Stack, name: string): Promise<number> {
  const { metrics } = stack.file().processes.find((one) => one.name === "ops-watchdog") ?? {};
  const text = await (await fetch(metrics ?? "")).text();
  return Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1]);
}

function hasMail({ dataDir }: Stack, subject: RegExp): boolean {
  const dir = join(dataDir, "mail");
  const mails = readdirSync(dir).filter((name) => name.endsWith(".eml"));
  return mails.some((name) => subject.test(readFileSync(join(dir, name), "utf8")));
}

/** From a new key to a copy that was opened; the bucket is named by the settings of the stack. */
export async function assertOffsite(stack: Stack): Promise<void> {
  const run = runOf(stack);
  assert.equal((await run("offsite", "keygen")).code, 0);
  assert.equal((await run("offsite", "status")).code, 1);
  const synced = await run("offsite", "sync");
  assert.deepEqual(
    [synced.code, synced.value["state"], synced.value["failed"]],
    [0, "completed", 0],
    synced.stderr,
  );
  const status = await run("offsite", "status");
  assert.deepEqual([status.code, status.value["stale"]], [0, false]);
  const listed = (await run("offsite", "list")).value as { objects: { key: string }[] };
  assert.ok(listed.objects.some(({ key }) => /^db\/db-.*-manual\.tar\./.test(key)));
  assert.equal((await run("offsite", "check-key")).code, 0);
  const verified = await run("offsite", "verify");
  assert.equal(verified.code, 0, verified.stderr);
  assert.equal((await run("offsite", "fetch-db")).code, 0);
}

/** The names of the stack as a name server of the world would give them. */
export async function assertDomain(stack: Stack): Promise<void> {
  const { root_domain } = stack.file();
  const names = await startNameServer(root_domain);
  try {
    const good = await stack.svc("domain", "check", "--resolver", names.address);
    assert.equal(good.code, 0, good.stdout + good.stderr);
    assert.match(
      good.stdout,
      new RegExp(`^ok +panel console\\.${root_domain} +served by 127\\.0\\.0\\.1:`, "m"),
    );
    const other = await stack.svc(
      "domain",
      "check",
      "play.example.net",
      "--resolver",
      names.address,
      "--json",
    );
    const { healthy, findings } = JSON.parse(other.stdout) as {
      healthy: boolean;
      findings: { detail: string }[];
    };
    assert.deepEqual([other.code, healthy], [1, false]);
    assert.equal(findings[0]?.detail, "console.play.example.net has no address; add an A or AAAA record");
  } finally {
    names.stop();
  }
}

/** A server that was applied by hand gets what new ones have, and nothing that it has is changed. */
export async function assertConverge(stack: Stack): Promise<void> {
  const { group, version, plural, kind } = MinecraftServer;
  const servers = resource({ group, version, plural, kind, namespaced: true });
  const kube = connectKube({ kubeconfigFile: stack.file().kubeconfig });
  const target = { namespace: "minecraft", name: "by-hand" };
  const run = runOf(stack);
  const specOf = async () =>
    ((await kube.get(servers, target)) as { spec?: Record<string, unknown> }).spec ?? {};
  try {
    const spec = { subdomain: "by-hand", image: "local/none", displayName: "By hand" };
    const object = { apiVersion: `${group}/${version}`, kind, metadata: target, spec };
    await kube.create(servers, object);
    assert.match(
      (await stack.svc("converge")).stdout,
      /^by-hand: skip rcon: not set; --user-rcon switches it on$/m,
    );
    assert.equal((await run("converge", "--user-rcon")).value["done"], false);
    assert.equal((await specOf())["rcon"], undefined);
    const done = await run("converge", "--user-rcon", "--yes");
    assert.deepEqual([done.code, done.value["filled"]], [0, ["by-hand"]], done.stderr);
    assert.deepEqual(await specOf(), {
      ...spec,
      rcon: { enabled: true, port: 25_575, secretRef: { name: "by-hand-rcon", key: "password" } },
      idle: { autoStopEnabled: true, emptySecondsBeforeStop: 600 },
    });
    assert.deepEqual((await run("converge", "--user-rcon", "--yes")).value["filled"], []);
  } finally {
    await kube.remove(servers, target);
    kube.close();
  }
}

/** Who owns a server and who may wake it, a deletion with its plan and its way back. */
export async function assertOwnership(stack: Stack): Promise<void> {
  const run = runOf(stack);
  const value = async (...args: string[]) => {
    const { code, stderr, value } = await run("server", ...args);
    assert.equal(code, 0, stderr);
    return value;
  };
  await value("create", "spare", "--claimable");
  assert.equal((await value("claim", "spare"))["claimed"], true);
  const again = await run("server", "claim", "spare");
  assert.deepEqual([again.code, /already_claimed/.test(again.stderr)], [1, true]);
  assert.deepEqual(await value("allowlist", "spare"), []);
  // A server that was never started has no world, which a drain could not move.
  await value("wake", "spare", "--wait");
  await value("stop", "spare", "--wait");
  assert.equal((await value("delete", "spare"))["done"], false);
  const { retiring } = await value("delete", "spare", "--yes");
  assert.equal((retiring as { delete: boolean }).delete, true);
  assert.equal((await run("server", "wake", "spare")).code, 1);
  assert.equal((await value("delete", "spare", "--cancel"))["retiring"], null);
}

/** Needs the operator `bea`. Lists users, plans before it adds an operator, and replaces a service token. */
export async function assertHostCommands(stack: Stack): Promise<void> {
  const run = runOf(stack);
  const json = async (...args: string[]) => (await run(...args)).value;
  const { users } = (await json("user", "list")) as { users: { username: string; role: string }[] };
  assert.deepEqual(
    users.map(({ username, role }) => [username, role]),
    [
      ["bea", "admin"],
      ["owner", "owner"],
    ],
  );
  const planned = await json("break-glass", "add-operator", "alex");
  assert.equal(planned["done"], false);
  const { setup_url: link } = await json("break-glass", "add-operator", "alex", "--yes");
  assert.match(String(link), /\/setup\?token=/);
  const before = stack.file().tokens.velocity;
  await json("rotate-token", "velocity", "--yes");
  const { internal_base_url: internal, tokens } = stack.file();
  assert.notEqual(tokens.velocity, before);
  const statusWith = async (token: string) => {
    const headers = { authorization: `Bearer ${token}` };
    return (await fetch(`${internal}/api/v1/servers`, { headers })).status;
  };
  await until(async () => (await statusWith(before)) === 401, 15_000, "the old token to be refused");
  assert.equal(await statusWith(tokens.velocity), 200);
}

export async function assertMetrics({ file }: Stack): Promise<void> {
  const addresses = file().processes.flatMap(({ metrics }) => metrics ?? []);
  assert.equal(addresses.length, file().registry ? 10 : 9);
  for (const address of addresses)
    assert.match(await (await fetch(address)).text(), /process_cpu_seconds_total/);
}

type Room = { name: string; servers: number; takes_servers: boolean };

/** All servers are on one node afterwards, and one that was awake is awake again. */
export async function assertDrain(stack: Stack): Promise<void> {
  const rooms = async () => {
    const listed = await stack.svc("node", "list", "--json");
    return (JSON.parse(listed.stdout) as { nodes: Room[] }).nodes;
  };
  // A test before may have woken it a moment ago.
  const woken = await until(
    async () => {
      const ran = await stack.svc("server", "wake", "survival", "--wait", "--json");
      if (ran.code !== 0) assert.match(ran.stderr, /cooldown/);
      return ran.code === 0 ? ran : undefined;
    },
    60_000,
    "the end of the wake cooldown",
  );
  const { nodeName: from } = JSON.parse(woken.stdout) as { nodeName: string };
  // It is never started, so it has no world to move.
  const made = await stack.svc("server", "create", "unused", "--node", from);
  assert.equal(made.code, 0, made.stderr);
  const isSeen = async () =>
    JSON.parse((await stack.svc("server", "status", "unused", "--json")).stdout).phase === "Stopped";
  await until(isSeen, 20_000, "the new server to be seen");
  const before = (await rooms()).find(({ name }) => name === from);
  const plan = await stack.svc("node", "drain", from);
  assert.match(
    plan.stdout,
    new RegExp(`Plan: cordon ${from}; [^]*survival to local-[12], stopped and woken`),
  );
  assert.match(plan.stdout, /^ {2}unused to local-[12], without a world$/m);
  assert.deepEqual(
    (await rooms()).find(({ name }) => name === from),
    before,
    "a plan changes nothing",
  );
  const drained = await stack.svc("node", "drain", from, "--yes");
  assert.equal(drained.code, 0, drained.stderr);
  assert.match(drained.stderr, /^unused: is bound to local-[12]; it has no world to move$/m);
  assert.match(drained.stdout, new RegExp(`${from} is empty: ${before?.servers} servers were moved`));
  const after = (await rooms()).find(({ name }) => name === from);
  assert.deepEqual([after?.servers, after?.takes_servers], [0, false]);
  assert.match((await stack.svc("node", "drain", from, "--yes")).stdout, /is empty: 0 servers were moved/);
  const moved = await stack.svc("server", "status", "survival", "--json");
  const { phase, nodeName } = JSON.parse(moved.stdout) as { phase: string; nodeName: string };
  assert.deepEqual([phase, nodeName === from], ["Running", false]);
  for (const name of ["nowhere", "login"])
    assert.match(
      (await stack.svc("node", "drain", from, "--to", name)).stderr,
      new RegExp(`node ${name} not found`),
    );
  assert.match((await stack.svc("node", "uncordon", from)).stdout, /takes servers again/);
  assert.equal((await stack.svc("server", "delete", "unused", "--yes")).code, 0);
  assert.equal((await stack.svc("server", "stop", "survival", "--wait")).code, 0);
}
