// An installation of the last release becomes one of this build while it serves: labels, permissions, definitions and
// migrations first, then one process after the other (docs/reference/mesh.md#versions, docs/install.md).

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { many } from "@svc/config/testing";
import { until } from "@svc/local-stack/testing";
import { natsAuthorization } from "@svc/proto";
import { type Child, startChild } from "../bench/harness/child.ts";
import { runSvc, stackAt } from "../flow/stack.ts";
import { type Visitor, visit } from "../flow/visitor.ts";
import type { RawRequest } from "../security/raw-request.ts";
import { openFixture, player, type StackFixture } from "../security/stack-fixture.ts";
import { behindBalancer, gatewayPorts } from "./balancer.ts";
import { assertChanges, tell } from "./figures.ts";
import { bundlePrograms, checkOut, findReleaseCommit, replaceProgram, startRelease } from "./last-release.ts";
import { isSuccess, type Load, startLoad } from "./load.ts";
import { pidOf } from "./processes.ts";
import type { StreamsPlan, StreamsSeen } from "./stream-readers.ts";

const commit = findReleaseCommit();
const skip = commit === undefined && "the history does not reach back to the last release";
const twofold = [
  ...["identity", "lifecycle", "storage", "builds", "ops-watchdog"],
  ...["gateway-internal", "gateway-external"],
];
const game = ["login-gate", "lobby", "proxy"];
/** Programs that a service starts itself come with it. */
const helpers: Record<string, string[]> = { storage: ["world-agent"], "ops-watchdog": ["ops-watchdog-host"] };
const [played, joined, stored] = ["played", "joined", "stored"];
const calmMs = 1_500;
const longMs = 90_000;
const part = Buffer.alloc(64 * 1024, "a part of a file\n");
const parts = 4;
const streams = many(1_000, 250);

describe("the last release is upgraded under load", { skip }, () => {
  let checkout = "";
  let dataDir = "";
  let programs = { from: "", to: "" };
  let balanced: StackFixture | undefined;
  let readers: Child | undefined;
  const marks = startMarks();
  let visitor: Visitor | undefined;
  let upload = "";
  const fixture = (): StackFixture => {
    assert.ok(balanced, "the stack did not start");
    return balanced;
  };

  before(async () => {
    checkout = checkOut(commit ?? "");
    dataDir = mkdtempSync(join(tmpdir(), "svc-upgrade-"));
    programs = { from: bundlePrograms(join(import.meta.dirname, "../..")), to: bundlePrograms(checkout) };
    startRelease(checkout, dataDir, [
      ...["--only", [...twofold, ...game].join(",")],
      ...twofold.flatMap((service) => ["--replicas", `${service}=2`]),
      ...["--set", "lifecycle.wake_cooldown=0s", "--set", "lifecycle.stop_notice=0s"],
      // The last release checks no session while a disk keeps this write waiting; this build does.
      ...["--set", "identity.last_seen_every=1h"],
    ]);
    const opened = await openFixture(stackAt(dataDir));
    balanced = behindBalancer(opened);
    assert.equal((await opened.redeem()).status, 200);
    await opened.leaveSetup();
    for (const name of [played, joined, stored])
      await call("POST", "/api/v1/servers", { name, subdomain: name, autostartPolicy: "public" });
    for (const name of [played, stored]) await wake(name);
    await stop(stored);
    visitor = await visit(opened.stack, "stays", opened.stack.file().root_domain);
    readers = await openReaders(streams);
    marks.start((json) => ask({ method: "POST", path: `/api/v1/servers/${played}/command`, json }));
    const path = `/api/v1/servers/${stored}/files/uploads?path=kept.bin`;
    upload = (await call<{ id: string }>("POST", path, { size: parts * part.length })).id;
    await putPart(0);
  });
  after(async () => {
    await marks.stop();
    await readers?.stop();
    await visitor?.leave();
    await balanced?.stop();
    for (const folder of [checkout, dataDir]) rmSync(folder, { recursive: true, force: true });
  });

  const ask = (question: RawRequest) => fixture().asOwner(question);

  async function call<T = unknown>(method: string, path: string, json?: unknown): Promise<T> {
    const answer = await ask({ method, path, ...(json !== undefined && { json }) });
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`);
    return (answer.text === "" ? undefined : JSON.parse(answer.text)) as T;
  }

  const isIn = async (name: string, phase: string) =>
    (await call<{ phase: string }>("GET", `/api/v1/servers/${name}/status`)).phase === phase;

  async function wake(name: string): Promise<void> {
    const path = `/api/v1/internal/servers/${name}/wake`;
    const woken = await fixture().asProxy({ method: "POST", path, json: { mc_uuid: player } });
    assert.equal(woken.status, 202, woken.text);
    await until(() => isIn(name, "Running"), longMs, `${name} to run`);
  }

  async function stop(name: string): Promise<void> {
    await call("POST", `/api/v1/servers/${name}/stop`);
    await until(() => isIn(name, "Stopped"), longMs, `${name} to stop`);
  }

  async function openReaders(count: number): Promise<Child> {
    const { adminHost, stack } = fixture();
    const perAccount = 16;
    const accounts = Array.from({ length: Math.ceil(count / perAccount) }, () =>
      fixture().insertSession("admin"),
    );
    const cookies = await Promise.all(accounts);
    const child = await startChild("../fault/stream-readers.ts", { logDir: dataDir });
    const plan: StreamsPlan = {
      ports: gatewayPorts(stack, "external"),
      path: `/api/v1/servers/${played}/console`,
      headers: Array.from({ length: count }, (_, turn) => ({
        host: adminHost,
        cookie: cookies[turn % cookies.length] ?? "",
      })),
    };
    await child.ask("open", plan);
    const areOpen = async () => (await child.ask<StreamsSeen>("look", [])).connections[0] > 0;
    await until(areOpen, longMs, `${count} event streams`);
    return child;
  }

  async function putPart(number: number): Promise<void> {
    const path = `/api/v1/servers/${stored}/files/uploads/${upload}?offset=${number * part.length}`;
    const digest = createHash("sha256").update(part).digest("base64");
    const headers = { "content-type": "application/octet-stream", "content-digest": `sha-256=:${digest}:` };
    const answer = await ask({ method: "PUT", path, headers, text: part });
    assert.equal(answer.status, 200, answer.text);
  }

  /** What people do with a server, on a new one. */
  async function walk(name: string): Promise<void> {
    const path = `/api/v1/servers/${name}`;
    await call("POST", "/api/v1/servers", { name, subdomain: name, autostartPolicy: "public" });
    await wake(name);
    await call("POST", `${path}/command`, { command: "list" });
    await stop(name);
    await call("POST", `${path}/backup`);
    type Backup = { status: string };
    const isKept = async () => {
      const { backups } = await call<{ backups: Backup[] }>("GET", `/api/v1/backups?server=${name}`);
      return backups.some(({ status }) => status === "present");
    };
    await until(isKept, longMs, `a backup of ${name}`);
    const content = Buffer.from(`of ${name}\n`);
    const content_sha256 = createHash("sha256").update(content).digest("hex");
    const file = `${path}/file?path=note.txt`;
    await call("PUT", file, { content: content.toString("base64"), content_sha256 });
    assert.equal((await call<{ content_sha256: string }>("GET", file)).content_sha256, content_sha256);
    const task = { action: "stop", minute_of_day: 180, weekdays: 127, timezone: "UTC", label: "night" };
    const { id } = await call<{ id: string }>("POST", `${path}/schedules`, task);
    await call("DELETE", `${path}/schedules/${id}`);
  }

  /** Ends processes as an upgrade does, one after the other; each comes back as this build. */
  async function renew(names: readonly string[]): Promise<void> {
    const { stack } = fixture();
    for (const name of names) {
      const service = name.replace(/-2$/, "");
      for (const program of [service, ...(helpers[service] ?? [])]) replaceProgram(program, programs);
      const before = pidOf(stack, name);
      process.kill(before, "SIGTERM");
      // A process that is ready says where its metrics are; the lobby has none.
      const isBack = () =>
        stack
          .file()
          .processes.some(
            (one) => one.name === name && one.pid !== before && (one.metrics || name === "lobby"),
          );
      await until(isBack, longMs, `${name} to be back`);
    }
  }

  async function under(work: () => Promise<unknown>): Promise<Load> {
    const load = startLoad(fixture(), joined);
    try {
      await pause(calmMs);
      await work();
      await pause(calmMs);
    } finally {
      await load.end();
    }
    return load;
  }

  /** A change may be lost with the listener of a gateway that ends; whoever sent it sees a broken connection. */
  async function assertServed(load: Load): Promise<void> {
    const isCut = ({ kind, status }: Load["outcomes"][number]) => kind === "change" && status === 0;
    assert.deepEqual(
      load.outcomes.filter((one) => !isSuccess(one) && !isCut(one)),
      [],
    );
    assert.ok(load.outcomes.filter(isCut).length <= twofold.length, "connections broke");
    await assertChanges(fixture(), load, joined);
  }

  const ways = (label: string) => [walk(`${label}-1`), walk(`${label}-2`)];

  test("new labels, permissions, definitions and migrations leave the old build serving", async (context) => {
    const load = await under(async () => {
      const { kubeconfig } = fixture().stack.file();
      const labelled = await runSvc(["node", "relabel", "--kubeconfig", kubeconfig, "--yes"]);
      assert.equal(labelled.code, 0, `${labelled.stdout}${labelled.stderr}`);
      renewPermissions(dataDir, pidOf(fixture().stack, "nats"));
      const migrated = await runSvc(["migrate", "up", "--no-backup", "--data", dataDir]);
      assert.equal(migrated.code, 0, `${migrated.stdout}${migrated.stderr}`);
      await Promise.all(ways("old"));
    });
    tell((line) => context.diagnostic(line), load);
    await assertServed(load);
    await putPart(1);
  });

  test("replicas of both builds share the work", async (context) => {
    const load = await under(async () => {
      await renew(twofold.map((service) => `${service}-2`));
      await Promise.all(ways("both"));
    });
    tell((line) => context.diagnostic(line), load);
    await assertServed(load);
    await putPart(2);
  });

  test("this build alone has all that was there", async (context) => {
    const load = await under(async () => {
      await renew(twofold);
      await Promise.all(ways("new"));
    });
    tell((line) => context.diagnostic(line), load);
    await assertServed(load);
    await putPart(3);
    await call("POST", `/api/v1/servers/${stored}/files/uploads/${upload}/commit`, {});
    const sha256 = createHash("sha256");
    for (let turn = 0; turn < parts; turn += 1) sha256.update(part);
    const wanted = sha256.digest("hex");
    const file = `/api/v1/servers/${stored}/file?path=kept.bin`;
    const isThere = async () => {
      const answer = await ask({ path: file });
      return (
        answer.status === 200 &&
        (JSON.parse(answer.text) as { content_sha256: string }).content_sha256 === wanted
      );
    };
    await until(isThere, longMs, "the uploaded file");
    await call("GET", `/api/v1/servers/${stored}/restart-policy`);
  });

  test(`${streams} event streams went on where they were, without a gap`, async (context) => {
    assert.ok(readers);
    const wanted = await marks.stop();
    assert.deepEqual(marks.refused, []);
    assert.ok(wanted.length > 0, "no line was printed");
    const look = () => readers?.ask<StreamsSeen>("look", wanted);
    const isComplete = async () => Object.keys((await look())?.missing ?? {}).length === 0;
    await until(isComplete, 30_000, "every line in every stream").catch(() => undefined);
    const seen = await look();
    context.diagnostic(`${wanted.length} lines each; ${JSON.stringify(seen)}`);
    assert.deepEqual(seen?.missing, {});
    assert.equal(seen?.open, streams);
    assert.ok((seen?.connections[0] ?? 0) >= 2, "a stream survived both gateways");
  });

  test("the player is there until the proxy itself is replaced, and joins the new one", async () => {
    assert.ok(visitor);
    await visitor.hears(/enter this code/);
    const stays = Symbol("stays");
    assert.equal(await Promise.race([visitor.ended, pause(calmMs, stays)]), stays);
    await renew(game);
    assert.notEqual(await visitor.ended, "");
    visitor = await visit(fixture().stack, "stays", fixture().stack.file().root_domain);
    await visitor.hears(/enter this code/);
  });
});

/** Users of NATS have the permissions of this build from here on, as `docs/install.md` says: before anything else. */
function renewPermissions(dataDir: string, nats: number): void {
  const file = join(dataDir, "nats/nats.conf");
  const passwords = JSON.parse(readFileSync(join(dataDir, "secrets/nats.json"), "utf8")) as Record<
    string,
    string
  >;
  const text = readFileSync(file, "utf8");
  const start = text.indexOf("authorization {");
  assert.ok(start > 0, "nats.conf has users");
  writeFileSync(file, `${text.slice(0, start)}${natsAuthorization(passwords)}`);
  process.kill(nats, "SIGHUP");
}

/** Numbered lines in the console of a server, four a second. */
function startMarks() {
  const refused: string[] = [];
  const said: number[] = [];
  let isOver = false;
  let loop = Promise.resolve();
  const everyMs = 250;
  return {
    refused,
    start: (run: (json: { command: string }) => Promise<{ status: number; text: string }>) => {
      loop = (async () => {
        for (let mark = 1; !isOver; mark += 1) {
          const answer = await run({ command: `say mark-${mark}` }).catch(() => undefined);
          if (answer?.status === 200) said.push(mark);
          // A connection that breaks with its gateway says nothing of the line.
          else if (answer) refused.push(`${mark}: ${answer.status} ${answer.text}`);
          await pause(everyMs);
        }
      })();
    },
    /** The numbers that were certainly printed. */
    stop: async () => {
      isOver = true;
      await loop;
      return said;
    },
  };
}
