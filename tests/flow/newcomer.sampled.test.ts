// What the README promises, by the command line alone.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { isWhole, wholeOnly } from "@svc/config/testing";
import { until } from "@svc/local-stack/testing";
import pg from "pg";
import { assertFileWork } from "./file-work.ts";
import { assertAlertMails, assertDashboards } from "./monitoring.ts";
import * as operations from "./operations.ts";
import { type Prometheus, startPrometheus, withoutPrometheus } from "./prometheus.ts";
import * as scripts from "./scripts.ts";
import { newestCode, runSvc, type Stack, startStack } from "./stack.ts";
import { assertSupportBundle } from "./support-bundle.ts";

const main = resolve(import.meta.dirname, "../../services/cli/src/main.ts");
let stack: Stack;
let prometheus: Prometheus | undefined;
let receiver: scripts.WebhookReceiver;
let bucket: Awaited<ReturnType<typeof operations.openBucket>>;
before(async () => {
  [bucket, receiver] = await Promise.all([operations.openBucket(), scripts.openReceiver()]);
  stack = await startStack(["--set", "lifecycle.stop_notice=1s", ...bucket.args, ...receiver.args]);
  if (isWhole && !withoutPrometheus) prometheus = await startPrometheus(stack.file());
});
after(async () => {
  await prometheus?.stop();
  await stack?.stop();
  await Promise.all([bucket?.stop(), receiver?.stop()]);
});

async function database(text: string): Promise<unknown[]> {
  const client = new pg.Client(stack.file().database_url);
  await client.connect();
  return (await client.query(text).finally(() => client.end())).rows;
}

/** Runs `svc … --json`, which must succeed, and returns its value. */
async function json(...args: string[]): Promise<Record<string, unknown>> {
  const ran = await stack.svc(...args, "--json");
  assert.equal(ran.code, 0, `svc ${args.join(" ")}: ${ran.stderr}${ran.stdout}`);
  return JSON.parse(ran.stdout) as Record<string, unknown>;
}

test("without an account the command line says how to create one", async () => {
  const refused = await stack.svc("server", "list");
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /npm run svc -- account setup --email/);
});

test("before the setup `svc open` opens the setup link, unless a host is named", async () => {
  const open = async (...args: string[]) => {
    const withoutDisplay = { DISPLAY: "", WAYLAND_DISPLAY: "" };
    const ran = await runSvc(["open", "--data", stack.dataDir, ...args], undefined, withoutDisplay);
    return new URL(ran.stdout.trim());
  };
  const [link, panel] = [await open(), await open("--host", "panel")];
  assert.deepEqual([link.hostname, link.pathname], [stack.file().admin_host, "/setup"]);
  assert.ok(link.searchParams.get("token"));
  assert.deepEqual([panel.hostname, panel.pathname], [stack.file().panel_host, "/"]);
});

/** Runs an interactive command and types one line after the other. */
function typing(lines: readonly string[], ...args: string[]): ReturnType<typeof runSvc> {
  return runSvc([...args, "--data", stack.dataDir], Promise.resolve(lines.join("\n")));
}

test("an aborted setup can be continued: a wrong code asks again, the mailed one is still valid", async () => {
  const email = "you@example.net";
  const aborted = await typing([], "account", "setup", "--email", email);
  assert.equal(aborted.code, 1);
  assert.match(
    aborted.stderr,
    /no code was given.*To continue, run npm run svc -- account setup .* --data \S+/,
  );
  assert.ok(stack.file().setup_url);
  const code = await until(() => newestCode(join(stack.dataDir, "mail")), 15_000, "the mailed code");
  const mails = readdirSync(join(stack.dataDir, "mail")).length;
  const done = await typing(["000000", code], "account", "setup", "--email", email);
  assert.equal(done.code, 0, done.stderr);
  assert.match(done.stderr, /That code is wrong/);
  assert.match(done.stdout, /You are the owner, you@example\.net\. Setup is done\./);
  assert.equal(readdirSync(join(stack.dataDir, "mail")).length, mails);
  await until(() => stack.file().setup_url === undefined, 10_000, "the spent link to leave stack.json");
  const log = readFileSync(join(stack.dataDir, "logs", "supervisor.log"), "utf8");
  assert.doesNotMatch(log, /setup\?token=/);
  const again = await json("account", "setup", "--email", email);
  assert.equal(again["email"], email);
});

test("after a sign-out or an idle time the command line says how to sign in, and does it from the data folder, audited", async () => {
  const hint = /sign in (?:again )?with: npm run svc -- account login --data /;
  assert.equal((await json("account", "whoami"))["role"], "owner");
  await database("update identity.sessions set last_seen_at = now() - interval '31 minutes'");
  // A gateway may remember a session for five seconds.
  const expired = await until(
    async () => {
      const listed = await stack.svc("server", "list");
      return listed.code === 0 ? undefined : listed;
    },
    15_000,
    "the session to have ended",
  );
  assert.equal(expired.code, 1);
  assert.match(expired.stderr, /your session has ended/);
  assert.match(expired.stderr, hint);
  assert.equal((await json("account", "login"))["role"], "owner");
  assert.equal(statSync(join(stack.dataDir, "cli-session")).mode & 0o777, 0o600);
  assert.deepEqual(await json("server", "list"), []);
  await json("account", "logout");
  assert.match((await stack.svc("server", "list")).stderr, hint);
  chmodSync(join(stack.dataDir, "stack.json"), 0o644);
  assert.match((await stack.svc("account", "login")).stderr, /is readable by others/);
  chmodSync(join(stack.dataDir, "stack.json"), 0o600);
  await json("account", "login");
  const signIns = "select count(*)::int as n from identity.audit_logs where action = 'break_glass.sign_in'";
  assert.deepEqual(await database(signIns), [{ n: 2 }]);
});

test("a command that needs a fresh proof gets one and continues", async () => {
  await database("update identity.sessions set reauth_at = now() - interval '1 hour'");
  const player = randomUUID();
  const minted = await stack.internal("POST", "/api/v1/internal/account/link/code", { mc_uuid: player });
  const { code } = minted.body as { code: string };
  const linked = await stack.svc("account", "link", code, "--json");
  assert.equal(linked.code, 0, linked.stderr);
  assert.match(linked.stderr, /required a fresh proof/);
  assert.equal((JSON.parse(linked.stdout) as { mc_uuid: string }).mc_uuid, player);
  const { reauth } = await json("account", "whoami");
  assert.equal((reauth as { needed: boolean }).needed, false);
});

test(
  "an operator signs in with a mailed code and an approval in the game, a player with a mailed code",
  wholeOnly,
  async () => {
    const mails = join(stack.dataDir, "mail");
    // A mail that is being stored lies beside the others under a temporary name.
    const count = () => readdirSync(mails).filter((name) => name.endsWith(".eml")).length;
    /** The next code that is mailed, once the command has asked for it. */
    const nextCode = (before: number) =>
      until(() => (count() > before ? newestCode(mails) : undefined), 15_000, "the mailed code");

    const [linked] = await database("select mc_uuid from identity.account_links");
    const { mc_uuid: approver } = linked as { mc_uuid: string };
    await database("delete from identity.otp_reservations");
    await json("account", "logout");
    const approve = async () => {
      const pending = await until(
        async () => {
          const { body } = await stack.internal("GET", "/api/v1/internal/op-login/pending");
          return (body as { pending: { request_id: string; username: string }[] }).pending[0];
        },
        15_000,
        "the request",
      );
      const about = { approver_uuid: approver, username: pending.username };
      const path = `/api/v1/internal/op-login/${pending.request_id}/approve`;
      assert.equal((await stack.internal("POST", path, about)).status, 200);
    };
    const before = count();
    const asOperator = ["account", "login", "--with", "operator", "--email", "you@example.net"];
    const code = nextCode(before);
    const [signedIn] = await Promise.all([
      runSvc([...asOperator, "--data", stack.dataDir], code),
      code.then(approve),
    ]);
    assert.equal(signedIn.code, 0, signedIn.stderr);
    assert.match(signedIn.stderr, /\/felis web op approve /);
    assert.equal((await json("account", "whoami"))["host"], "admin");

    const player = "insert into identity.users (id, username, role, email, email_verified) values";
    await database(`${player} ('usr-mail', 'mailer', 'user', 'mailer@example.net', true)`);
    const asPlayer = ["account", "login", "--email", "mailer@example.net", "--data", stack.dataDir];
    const played = await runSvc(asPlayer, nextCode(count()));
    assert.equal(played.code, 0, played.stderr);
    const { role, host } = await json("account", "whoami");
    assert.deepEqual([role, host], ["user", "panel"]);
    assert.deepEqual(await json("server", "list"), []);
    const staffOnly = await stack.svc("server", "create", "mine");
    assert.match(staffOnly.stderr, /\(forbidden, request /);
    await database("delete from identity.otp_reservations");
    const proved = await runSvc(["account", "reauth", "--data", stack.dataDir], nextCode(count()));
    assert.equal(proved.code, 0, proved.stderr);
    await database("delete from identity.users where id = 'usr-mail'");
    await json("account", "login");
  },
);

test("a server is created, woken, inspected and stopped", async () => {
  const created = await json("server", "create", "survival", "--policy", "public", "--idle", "60");
  assert.partialDeepStrictEqual(created, { name: "survival", desiredState: "Stopped" });
  const taken = await stack.svc("server", "create", "survival", "--policy", "public");
  assert.equal(taken.code, 1);
  assert.match(taken.stderr, /_taken, request /);

  const woken = await json("server", "wake", "survival", "--wait");
  assert.equal(woken["phase"], "Running");
  // Within the cooldown of that wake.
  assert.equal((await json("server", "wake", "survival", "--wait"))["phase"], "Running");
  const status = await json("server", "status", "survival");
  assert.deepEqual(
    [status["ready"], status["autostartPolicy"], status["idleStopSeconds"]],
    [true, "public", 60],
  );
  const listed = await stack.svc("server", "list");
  assert.match(listed.stdout, /^survival +Running +0\/20 +127\./m);
  assert.equal((await json("server", "stop", "survival", "--wait"))["phase"], "Stopped");
});

test("settings, files, schedules and the console work with the person's own session", async () => {
  const created = await json("server", "create", "work", "--owner", "me", "--policy", "public");
  assert.equal(created["name"], "work");
  const [row] = (await json("server", "list")) as unknown as { owned: boolean; claimable: boolean }[];
  assert.deepEqual([row?.owned, row?.claimable], [false, false]);
  const changed = await json("server", "set", "work", "--display-name", "Workshop", "--idle", "0");
  assert.deepEqual(changed["patched"], ["displayName", "idleStopSeconds"]);

  const { id } = await json("schedule", "create", "work", "--action", "stop", "--at", "04:00");
  const updated = await json("schedule", "update", "work", String(id), "--at", "05:30", "--disable");
  assert.deepEqual([updated["minute_of_day"], updated["enabled"]], [330, false]);
  assert.equal((await json("schedule", "delete", "work", String(id)))["done"], false);

  await json("server", "wake", "work", "--wait");
  assert.match(String((await json("server", "command", "work", "list"))["output"]), /0 of a max/);
  const console = await typing(["say told from here", "nonsense"], "server", "console", "work");
  assert.equal(console.code, 0, console.stderr);
  assert.match(console.stdout, /Done \(/);
  assert.match((await stack.svc("server", "logs", "work")).stdout, /told from here/);
  await json("server", "stop", "work", "--wait");

  const [text, there] = [join(stack.dataDir, "note.txt"), "note.txt"];
  writeFileSync(text, "one\n");
  await json("files", "put", "work", text, there);
  const taken = await stack.svc("files", "put", "work", text, there);
  assert.match(taken.stderr, /file_exists/);
  const edited = await runSvc(["files", "edit", "work", there, "--data", stack.dataDir], undefined, {
    EDITOR: "sed -i s/one/two/",
  });
  assert.equal(edited.code, 0, edited.stderr);
  assert.equal((await stack.svc("files", "get", "work", there, "-")).stdout, "two\n");
  await assertFileWork(stack, { server: "work", path: there });
  const history = (await json("server", "history", "work")) as unknown as { subject: string }[];
  assert.match(history[0]?.subject ?? "", /server\.created/);
});

test("an API token opens what it was made for", wholeOnly, () => scripts.assertApiToken(stack));

test("a stranger installs the client", wholeOnly, () => scripts.assertPublishedClient(stack));

test("a webhook tells what happens", wholeOnly, () => scripts.assertWebhooks(stack, receiver));

test("a server is claimed, deleted and kept", wholeOnly, () => operations.assertOwnership(stack));

test("a player is barred and unbarred, and a user is disabled and enabled", async () => {
  const player = randomUUID();
  const asked = () => stack.internal("GET", `/api/v1/internal/player/blacklist/${player}`);
  assert.equal((await json("player", "bar", player))["done"], false);
  assert.deepEqual((await asked()).body, { blacklisted: false });
  await json("player", "bar", player, "--yes");
  assert.deepEqual((await asked()).body, { blacklisted: true });
  await json("player", "unbar", player);
  assert.deepEqual((await asked()).body, { blacklisted: false });
  await json("break-glass", "add-operator", "bea", "--yes");
  assert.equal((await json("user", "disable", "bea"))["done"], false);
  assert.equal((await json("user", "disable", "bea", "--yes"))["disabled"], true);
  assert.equal((await json("user", "enable", "bea"))["disabled"], false);
});

test("host commands list users, plan before they act, and rotate a token under running gateways", () =>
  operations.assertHostCommands(stack));

test("status names every process and service, and the doctor finds nothing wrong", async () => {
  const { processes, services } = await json("status");
  const names = (rows: unknown) => (rows as { name: string }[]).map(({ name }) => name).sort();
  const expected = [
    "builds",
    "gateway-external",
    "gateway-internal",
    "identity",
    "lifecycle",
    "ops-watchdog",
    "storage",
  ];
  assert.deepEqual(names(services), expected);
  const beside = ["local-cluster", "mail-sink", "nats", "postgres", "proxy", "login-gate", "lobby"];
  // A machine that cannot get docker-registry has none of them.
  const registry = stack.file().registry ? ["registry", "registry-gate"] : [];
  assert.deepEqual(names(processes), [...expected, ...beside, ...registry].sort());
  const { healthy, findings } = await json("doctor");
  assert.equal(healthy, true);
  assert((findings as { check: string }[]).some(({ check }) => check === "game port"));
});

test("the doctor reports what is wrong and exits with 1", async () => {
  const sick = stack.file().processes.filter(({ name }) => name === "storage" || name === "proxy");
  for (const { pid } of sick) process.kill(pid, "SIGSTOP");
  try {
    const { code, stdout } = await stack.svc("doctor");
    assert.equal(code, 1);
    assert.match(stdout, /^BAD +service storage +does not answer; see its log$/m);
    assert.match(stdout, /^BAD +game port +does not answer at 127\.0\.0\.1:\d+$/m);
  } finally {
    for (const { pid } of sick) process.kill(pid, "SIGCONT");
  }
});

test("commands with wrong input exit with 1 and say what to do", async () => {
  const refusals: [args: string[], says: RegExp][] = [
    [
      ["backup", "restore", "nothing"],
      /backup nothing not found; list backups with npm run svc -- backup list --data /,
    ],
    [["backup-now", "nowhere"], /^$/],
    [
      ["server-migrate", "start", "survival", "nowhere"],
      /node nowhere not found; nodes are local-1, local-2/,
    ],
    [["break-glass", "lift-lock", "nobody"], /user nobody not found; npm run svc -- user list --data /],
    [["break-glass", "add-operator", "owner"], /the name owner is taken/],
    [["audit-export", "--out", "/nowhere/a.jsonl"], /the folder \/nowhere does not exist/],
  ];
  const asked = refusals.map(async ([args, says]) => {
    const { code, stderr } = await stack.svc(...args);
    assert.equal(code, 1, args.join(" "));
    assert.match(stderr, says, args.join(" "));
    assert.doesNotMatch(stderr, /ENOENT|\n +at /, args.join(" "));
  });
  await Promise.all(asked);
  const data = join(stack.dataDir, "not-yet");
  assert.equal((await runSvc(["up", "--detach", "--replicas", "lobby=2", "--data", data])).code, 1);
  assert.equal((await runSvc(["rotate-token", "velocity", "--data", data])).code, 1);
  assert.equal(existsSync(data), false);
});

test("the audit export takes a time span, a closed pipe is not an error, and migrations find the stack of the folder", async () => {
  const out = join(stack.dataDir, "audit.jsonl");
  assert.ok(Number((await json("audit-export", "--out", out, "--since", "1h"))["entries"]) > 0);
  assert.deepEqual(await json("migrate", "up"), { applied: [], streams: [], objects: [] });
  const child = spawn(process.execPath, [main, "events", "--no-follow", "--data", stack.dataDir], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  child.stdout.destroy();
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => {
    said += chunk;
  });
  const [code] = (await once(child, "close")) as [number | null];
  assert.deepEqual([code, said], [0, ""]);
});

test("the URL of every process's metrics is listed", () => operations.assertMetrics(stack));

test("a node is drained of its servers, and takes servers again", () => operations.assertDrain(stack));

test("a support bundle has what a helper needs and no secret", () => assertSupportBundle(stack));

test("`svc update` prints the steps of an update and of the way back", wholeOnly, () =>
  operations.assertUpdates(stack),
);

test("alerts are listed, silenced and tested by hand", wholeOnly, () => operations.assertAlerts(stack));

test("copies are made off-site, listed, verified and fetched", wholeOnly, () =>
  operations.assertOffsite(stack),
);

test("the names of a domain are checked as a visitor finds them", wholeOnly, () =>
  operations.assertDomain(stack),
);

test("fields that a server never had are filled, and no other", wholeOnly, () =>
  operations.assertConverge(stack),
);

test("servers are made as files say", wholeOnly, () => scripts.assertApply(stack));

test("servers are made of templates", wholeOnly, () => scripts.assertTemplates(stack));

test("every query of the dashboards has an answer", { skip: withoutPrometheus || wholeOnly.skip }, () =>
  assertDashboards(prometheus ?? assert.fail()),
);

test(
  "an alert is mailed by Alertmanager, and its end too",
  { skip: withoutPrometheus || wholeOnly.skip },
  () => assertAlertMails(prometheus ?? assert.fail(), stack.file()),
);

test("an unknown command and an unknown option exit with 2", async () => {
  assert.equal((await stack.svc("nonsense")).code, 2);
  assert.equal((await stack.svc("events", "--since", "soon")).code, 2);
  assert.equal((await stack.svc("server", "create", "x", "--policy", "nobody")).code, 2);
});
