// A small day of a platform, over and over: people look around, users come and go, players wake servers and leave them,
// worlds are backed up, files are changed, tasks are planned. Each act leaves nothing behind but what the platform keeps
// on purpose.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { request } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { until } from "@svc/local-stack/testing";
import type { Stack } from "../flow/stack.ts";
import { bind, codeIn, type Visitor, visit } from "../flow/visitor.ts";

/** The server that players visit, and the one whose world is worked on. */
const played = "survival";
const worked = "workshop";

const longMs = 120_000;
const worldPath = `/api/v1/servers/${worked}`;

export type Tally = Map<string, { done: number; failed: number; lastProblem?: string }>;

/** Makes both servers, and the world of the one that is worked on. */
export async function prepare(stack: Stack): Promise<void> {
  const call = callsOf(stack);
  for (const name of [played, worked])
    await call("POST", "/api/v1/servers", { name, subdomain: name, autostartPolicy: "public" });
  await call("POST", `${worldPath}/wake`);
  await reaches(call, worked, "Running");
  await call("POST", `${worldPath}/stop`);
  await reaches(call, worked, "Stopped");
}

function reaches(call: Call, name: string, phase: string): Promise<unknown> {
  const isThere = async () =>
    ((await call("GET", `/api/v1/servers/${name}/status`)) as { phase: string }).phase === phase;
  return until(isThere, longMs, `${name} to be ${phase}`);
}

type Act = { name: string; everyMs: number; run: () => Promise<void> };

/** Runs all acts until the signal; each waits for its own end before it comes again. */
export async function runLoad(stack: Stack, signal: AbortSignal): Promise<Tally> {
  const tally: Tally = new Map();
  await Promise.all(actsOf(stack).map((act) => repeat(act, { tally, signal })));
  return tally;
}

async function repeat({ name, everyMs, run }: Act, { tally, signal }: { tally: Tally; signal: AbortSignal }) {
  const counts: { done: number; failed: number; lastProblem?: string } = { done: 0, failed: 0 };
  tally.set(name, counts);
  while (!signal.aborted) {
    try {
      await run();
      counts.done += 1;
    } catch (error) {
      counts.failed += 1;
      counts.lastProblem = (error as Error).message.slice(0, 300);
    }
    await pause(everyMs, undefined, { signal }).catch(() => undefined);
  }
}

function actsOf(stack: Stack): Act[] {
  const call = callsOf(stack);
  return [
    browse(call),
    comeAndGo(call),
    { name: "files", everyMs: 2_000, run: () => changeFiles(call) },
    { name: "backups", everyMs: 10_000, run: () => backUp(call) },
    { name: "schedules", everyMs: 10_000, run: () => plan(call) },
    { name: "reaper", everyMs: 60_000, run: () => runReaper(stack) },
    { name: "streams", everyMs: 1_000, run: () => watch(stack) },
    visits(stack, call),
  ];
}

function callsOf(stack: Stack): Call {
  return async (method, path, body) => {
    const answer = await stack.external(method, path, body);
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
}

type Call = (method: string, path: string, body?: unknown) => Promise<unknown>;

function browse(call: Call): Act {
  const pages = ["me", "fleet", "users", "audit", "backups", "nodes", "account/sessions"];
  let turn = 0;
  return {
    name: "pages",
    everyMs: 100,
    run: async () => void (await call("GET", `/api/v1/${pages[turn++ % pages.length]}`)),
  };
}

function comeAndGo(call: Call): Act {
  let turn = 0;
  const run = async () => {
    const made = (await call("POST", "/api/v1/users", { username: `guest-${turn++}`, role: "user" })) as {
      id: string;
    };
    await call("DELETE", `/api/v1/users/${made.id}`);
  };
  return { name: "users", everyMs: 3_000, run };
}

/** While a backup or a reaper holds the world, a file change is refused; that is not a failure. */
async function whenFree(act: () => Promise<unknown>): Promise<void> {
  await until(
    async () => {
      try {
        await act();
        return true;
      } catch (error) {
        if (/: 409 /.test((error as Error).message)) return false;
        throw error;
      }
    },
    longMs,
    "the world to be free",
  );
}

async function changeFiles(call: Call): Promise<void> {
  const path = `${worldPath}/file?path=${encodeURIComponent("soak.txt")}`;
  const content = Buffer.from(`written at ${new Date().toISOString()}\n`);
  const content_sha256 = createHash("sha256").update(content).digest("hex");
  const body = { content: content.toString("base64"), content_sha256 };
  await whenFree(() => call("PUT", path, body));
  await whenFree(() => call("GET", `${worldPath}/files`));
  await whenFree(() => call("DELETE", path));
}

async function backUp(call: Call): Promise<void> {
  type Backup = { id: string; server_name: string };
  const list = async () => {
    const { backups } = (await call("GET", "/api/v1/backups")) as { backups: Backup[] };
    return backups;
  };
  const before = new Set((await list()).map(({ id }) => id));
  await whenFree(() => call("POST", `${worldPath}/backup`));
  const made = await until(async () => (await list()).find(({ id }) => !before.has(id)), longMs, "a backup");
  await call("DELETE", `/api/v1/backups/${made.id}`);
}

async function plan(call: Call): Promise<void> {
  const task = { action: "stop", minute_of_day: 180, weekdays: 127, timezone: "UTC", label: "soak" };
  const made = (await call("POST", `${worldPath}/schedules`, task)) as { id: string };
  await call("DELETE", `${worldPath}/schedules/${made.id}`);
}

async function runReaper(stack: Stack): Promise<void> {
  const ran = await stack.svc("reaper", "--retention-only");
  assert.equal(ran.code, 0, `${ran.stdout}${ran.stderr}`);
}

/** Follows what changes for some seconds, as an open page does. */
async function watch(stack: Stack): Promise<void> {
  const { external_base_url, admin_host } = stack.file();
  const { port } = new URL(external_base_url);
  const headers = { host: `${admin_host}:${port}`, cookie: stack.cookie(), accept: "text/event-stream" };
  await new Promise<void>((settle, fail) => {
    const asked = request(`${external_base_url}/api/v1/me/events`, { headers }, (response) => {
      if (response.statusCode !== 200) return fail(new Error(`a stream was answered ${response.statusCode}`));
      response.resume().on("error", () => undefined);
      setTimeout(() => {
        asked.destroy();
        settle();
      }, 5_000);
    });
    asked.on("error", fail).end();
  });
}

function visits(stack: Stack, call: Call): Act {
  let isKnown = false;
  let visitor: Visitor | undefined;
  const enter = async () => {
    visitor = await visit(stack, "alice", `${played}.svc.localhost`);
    if (!isKnown) await bind(stack, codeIn(await visitor.hears(/enter this code/)));
    isKnown = true;
    await visitor.isOn(played, longMs);
  };
  const run = async () => {
    try {
      await enter();
    } finally {
      await visitor?.leave();
    }
    await call("POST", `/api/v1/servers/${played}/stop`);
    await reaches(call, played, "Stopped");
  };
  return { name: "visits", everyMs: 2_000, run };
}
