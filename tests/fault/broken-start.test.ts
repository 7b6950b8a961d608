// A start that cannot succeed ends with one sentence that says what to do, its own exit code, and nothing left running.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, describe, test } from "node:test";
import { defaultCacheDirs, defaultPorts, findNatsServer, startNats } from "@svc/local-stack";
import { until } from "@svc/local-stack/testing";
import pg from "pg";
import { runSvc, type Stack, startStack } from "../flow/stack.ts";

const root = resolve(import.meta.dirname, "../..");
const patienceMs = 30_000;

type Ended = { code: number; stdout: string; stderr: string };

/** Runs a program to its end with more environment; one that stays is killed and fails the test. */
async function run(file: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  const child = spawn(process.execPath, [join(root, file), ...args], { env: { ...process.env, ...env } });
  const said = { stdout: "", stderr: "" };
  for (const stream of ["stdout", "stderr"] as const) {
    child[stream].on("data", (chunk: Buffer) => {
      said[stream] += chunk;
    });
  }
  const timer = setTimeout(() => child.kill("SIGKILL"), patienceMs);
  const [code] = (await once(child, "close")) as [number | null];
  clearTimeout(timer);
  assert.notEqual(code, null, `${file} ${args.join(" ")} stayed: ${said.stdout}${said.stderr}`);
  return { ...said, code: code ?? -1 };
}

const cli = "services/cli/src/main.ts";
const up = (dir: string, args: readonly string[] = [], env: NodeJS.ProcessEnv = {}) =>
  run(cli, ["up", "--ports", "auto", "--data", dir, ...args], env);

function scratch(t: { after: (end: () => void) => void }): string {
  const dir = mkdtempSync(join(tmpdir(), "svc-broken-"));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** One sentence from `who`, without a stack trace, and what the sentence must hold. */
function assertSentence(ended: Ended, who: string, words: readonly RegExp[]): void {
  assert.notEqual(ended.code, 0, ended.stdout);
  const lines = ended.stderr.trim().split("\n");
  const last = lines.at(-1) ?? "";
  assert.ok(last.startsWith(`${who}: `), ended.stderr);
  for (const word of words) assert.match(last, word);
  assert.doesNotMatch(ended.stderr, /^\s+at |node_modules|unexpected:/m);
}

/** Processes that carry the folder in their command line or environment. */
function processesOf(dir: string): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(dir);
      } catch {
        return false;
      }
    });
}

async function assertNothingRuns(dir: string): Promise<void> {
  assert.ok(!existsSync(join(dir, "stack.json")), "stack.json was left behind");
  await until(() => processesOf(dir).length === 0, 10_000, `nothing of ${dir} to run`);
}

describe("the command line", () => {
  const cases: [what: string, args: string[], code: number, words: RegExp[]][] = [
    ["an unknown command", ["launch"], 2, [/unknown command 'launch'/, /svc --help/]],
    ["an unknown option", ["up", "--fast"], 2, [/unknown option '--fast'/]],
    ["no such mode of ports", ["up", "--ports", "some"], 2, [/--ports/, /fixed, auto/]],
    ["--replicas without a number", ["up", "--replicas", "storage"], 2, [/--replicas storage/, /SERVICE=N/]],
    ["--replicas of nobody", ["up", "--replicas", "store=2"], 2, [/store=2/, /identity, lifecycle/]],
    ["--replicas of zero", ["up", "--replicas", "storage=0"], 2, [/storage=0/]],
    ["too many --replicas", ["up", "--replicas", "storage=99"], 1, [/storage=99/, /1 to 16/]],
    ["--only of nobody", ["up", "--only", "store"], 1, [/--only names store/, /identity, lifecycle/]],
    ["--set without a value", ["up", "--set", "smtp.port"], 1, [/--set smtp\.port/, /section\.key=value/]],
    ["--set of no section", ["up", "--set", "nowhere.key=1"], 1, [/no section \[nowhere\]/]],
  ];
  for (const [what, args, code, words] of cases) {
    test(`${what} is refused with code ${code}`, async (t) => {
      const dir = scratch(t);
      const ended = await run(cli, args[0] === "up" ? [...args, "--data", dir] : args);
      assert.equal(ended.code, code, ended.stderr);
      for (const word of words) assert.match(ended.stderr, word);
      assert.doesNotMatch(ended.stderr, /^\s+at |unexpected:/m);
      await assertNothingRuns(dir);
    });
  }
  test("down without a running stack says so and succeeds", async (t) => {
    const dir = scratch(t);
    for (const data of [dir, join(dir, "nowhere")]) {
      const ended = await runSvc(["down", "--data", data]);
      assert.deepEqual([ended.code, ended.stderr], [0, ""]);
      assert.match(ended.stdout, /No stack is running on/);
    }
  });
});

describe("the data folder", () => {
  test("a file in its place is refused", async (t) => {
    const file = join(scratch(t), "data");
    writeFileSync(file, "");
    assertSentence(await up(file), "svc", [/is a file, not a folder/, /--data/]);
  });
  test("a folder that cannot be written is refused", async (t) => {
    if (process.getuid?.() === 0) return t.skip("root may write everywhere");
    const closed = join(scratch(t), "closed");
    mkdirSync(closed, { mode: 0o500 });
    assertSentence(await up(join(closed, "data")), "svc", [/not writable for this user/, /--data/]);
    chmodSync(closed, 0o700);
  });
  test("a path where no folder can be created is refused", async () => {
    // Nobody can make a folder there, root included.
    assertSentence(await up("/proc/svc-data"), "svc", [/can't create a folder in \/proc/, /--data/]);
  });
  test("a full disk is refused before anything starts", async (t) => {
    const dir = join(scratch(t), "small");
    mkdirSync(dir);
    const mount = spawn("mount", ["-t", "tmpfs", "-o", "size=8m", "tmpfs", dir], { stdio: "ignore" });
    const [code] = await Promise.race([once(mount, "close"), once(mount, "error").then(() => [1])]);
    if (code !== 0) return t.skip("a small disk cannot be mounted here; it takes root");
    try {
      assertSentence(await up(dir), "svc", [/less than \d+ MB left/, /free some space/, /--data/]);
      await assertNothingRuns(dir);
    } finally {
      await once(spawn("umount", [dir], { stdio: "ignore" }), "close");
    }
  });
});

describe("nats-server", () => {
  const fake = (dir: string, words: string) => {
    const path = join(dir, "nats-server");
    writeFileSync(path, `#!/bin/sh\necho '${words}'\n`, { mode: 0o755 });
    return path;
  };
  const cases: [what: string, words: string, says: RegExp][] = [
    [
      "one that is too old",
      "nats-server: v2.10.27",
      /nats-server 2\.10\.27, and svc needs nats-server 2\.11\.16, 2\.12\.7 or newer/,
    ],
    ["a program that is none", "hello", /not a nats-server that runs here/],
  ];
  for (const [what, words, says] of cases) {
    test(`${what} is refused by SVC_NATS_SERVER`, async (t) => {
      const dir = scratch(t);
      const env = { SVC_NATS_SERVER: fake(dir, words) };
      const ended = await up(join(dir, "data"), [], env);
      assertSentence(ended, "svc", [/SVC_NATS_SERVER names/, says]);
      await assertNothingRuns(join(dir, "data"));
    });
  }
});

test("a taken port is named with its holder", async (t) => {
  const dir = scratch(t);
  const holder = createServer();
  // A port that somebody else on this machine has is taken all the same.
  await new Promise((resolve) => {
    holder.once("error", resolve);
    holder.listen({ host: "127.0.0.1", port: defaultPorts.smtp }, () => resolve(undefined));
  });
  t.after(() => holder.close());
  const ended = await run(cli, ["up", "--data", dir]);
  assertSentence(ended, "svc", [/port \d+ \([a-z-]+\) is taken by/, /free it, or use --ports auto/]);
  await assertNothingRuns(dir);
});

describe("on a stack that runs", () => {
  let stack: Stack | undefined;
  const running = (): Stack => {
    assert.ok(stack, "the stack did not start");
    return stack;
  };
  before(async () => {
    stack = await startStack(["--only", "identity,gateway-internal"]);
  });
  after(() => stack?.stop());

  /** Environment that its supervisor gave to a process of the stack. */
  const environmentOf = (name: string): NodeJS.ProcessEnv => {
    const pid = running()
      .file()
      .processes.find((one) => one.name === name)?.pid;
    const pairs = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0").filter(Boolean);
    return Object.fromEntries(
      pairs.map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]),
    );
  };
  const service = (name: string, args: readonly string[] = [], env: NodeJS.ProcessEnv = {}) =>
    run(`services/${name}/src/main.ts`, args, { ...environmentOf(name), SVC_HEALTH_PORT: "0", ...env });

  test("a second up on the same data is refused and leaves the first alone", async () => {
    const before = running().file().processes;
    const ended = await runSvc(["up", "--ports", "auto", "--data", running().dataDir]);
    assert.match(
      ended.stderr,
      /a stack is already running on .+ \(pid \d+\); npm run down -- --data .+ stops it/,
    );
    assert.deepEqual(running().file().processes, before);
  });
  test("a service refuses a database that is newer, and one that is older", async (t) => {
    const db = new pg.Client({ connectionString: running().file().database_url });
    await db.connect();
    t.after(() => db.end());
    const table = "identity.schema_migrations";
    const { rows } = await db.query<{ version: number; name: string }>(
      `select * from ${table} order by 1 desc`,
    );
    const [newest] = rows;
    assert.ok(newest);
    await db.query(`insert into ${table} (version, name) values (999, 'from-the-future')`);
    assertSentence(await service("identity"), "identity", [/schema is newer/, /999/, /newer release/]);
    await db.query(`delete from ${table} where version in (999, $1)`, [newest.version]);
    assertSentence(await service("identity"), "identity", [/older than this build/, /run svc migrate up/]);
    await db.query(`insert into ${table} (version, name) values ($1, $2)`, [newest.version, newest.name]);
  });
  test("a service refuses a NATS without streams, and says how to create them", async (t) => {
    const cacheDirs = defaultCacheDirs(process.env, root);
    const binary = await findNatsServer({ env: process.env, cacheDirs, progress: () => {} });
    const nats = await startNats({ binary, dataDir: scratch(t) });
    const refused = await service("identity", [], { SVC_NATS_URL: nats.url });
    await nats.stop();
    assertSentence(refused, "identity", [/NATS has no stream IDENTITY: run `svc migrate up`/]);
  });
  test("a service refuses a wrong setting by its name", async () => {
    const wrong: [args: string[], words: RegExp[]][] = [
      [
        ["--set", "identity.no_such_key=1"],
        [/identity/, /no_such_key/],
      ],
      [["--set", "identity.otp_tries=many"], [/identity\.otp_tries/]],
      [["--set", "identity.session_ttl=soon"], [/identity\.session_ttl/]],
      [["--set", "nowhere.key=1"], [/no section \[nowhere\]/]],
      [
        ["--set", "identity"],
        [/--set identity/, /section\.key=value/],
      ],
      [["--config", "/nowhere/svc.toml"], [/\/nowhere\/svc\.toml cannot be read/]],
      [["--verbose"], [/--verbose/]],
    ];
    for (const [args, words] of wrong) assertSentence(await service("identity", args), "identity", words);
  });
  test("a service whose database, address or password is wrong says which", async () => {
    const url = new URL(environmentOf("identity")["SVC_DATABASE_URL"] ?? "");
    url.password = "wrong";
    const refused = await service("identity", [], { SVC_DATABASE_URL: url.href });
    assertSentence(refused, "identity", [/refuses this user or password/, /SVC_DATABASE_URL/]);
    url.port = "1";
    const gone = await service("identity", [], { SVC_DATABASE_URL: url.href });
    assertSentence(gone, "identity", [/database does not answer/]);
    const unset = await service("identity", [], { SVC_NATS_URL: "" });
    assertSentence(unset, "identity", [/SVC_NATS_URL is not set/, /--help/]);
    const nameless = await service("identity", [], { SVC_DATABASE_URL: "" });
    assertSentence(nameless, "identity", [/SVC_DATABASE_URL is not set/]);
    const barred = await service("identity", [], { SVC_NATS_PASSWORD: "wrong" });
    assertSentence(barred, "identity", [/rejected the user "identity"/, /check the NATS user and password/]);
  });
  test("a gateway refuses two callers with one token, and a port that is taken", async (t) => {
    const dir = scratch(t);
    for (const caller of ["velocity", "limbo"]) writeFileSync(join(dir, caller), "the-same-token-for-both\n");
    const env = { SVC_TOKENS_DIR: dir, SVC_LISTEN: "127.0.0.1:0" };
    const equal = await service("gateway-internal", [], env);
    assertSentence(equal, "gateway-internal", [/velocity and limbo are equal|limbo and velocity are equal/]);
    assert.ok(!equal.stderr.includes("the-same-token"), "the token is not told");
    const taken = await service("gateway-internal");
    assertSentence(taken, "gateway-internal", [/EADDRINUSE|in use/, /another process has this port/]);
  });
});
