// A player's pack from the upload to a server made of it, on a running stack (docs/reference/builds.md#steps). The stack runs as a user
// who is not root, also where the tests do.

import assert from "node:assert/strict";
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { statSync } from "node:fs";
import { after, before, test } from "node:test";
import { isWhole, wholeOnly } from "@svc/config/testing";
import { until } from "@svc/local-stack/testing";
import protocol from "minecraft-protocol";
import { makeZip } from "../../libs/world/src/testing.ts";
import { landmark, type Packed, type PackMaker, startPackMaker } from "./pack.ts";
import { blockNameAt, join } from "./player.ts";
import { type Answer, type Stack, send, startStack, withoutGame } from "./stack.ts";
import { createStackUser, type StackUser } from "./unprivileged.ts";

type Submission = {
  id: string;
  status: string;
  context_sha256?: string;
  image_ref?: string;
  build_id?: string;
};
type Listed = Submission & { build_status?: string; build_error?: string; reject_reason?: string };
type Build = { status: string; error?: string; image_ref: string; image_digest?: string };
type Outcome = { submission: Submission; build: Build };
type Caller = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<Answer>;

let user: StackUser | undefined;
let stack: Stack;
let packs: PackMaker;
let player: Caller;
/** These two are built at once, while the tests look at the first. */
let islands: Promise<Outcome>;
let careless: Promise<Outcome>;
/** A `.mrpack`, built after them. */
let cliffs: Promise<Outcome>;
const token = `ghp_${randomBytes(60)
  .toString("base64")
  .replace(/[^A-Za-z0-9]/g, "")
  .slice(0, 36)}`;
before(async () => {
  const [, services] = withoutGame;
  const made = startPackMaker();
  made.catch(() => undefined);
  const quick = ["submission_cooldown=0s", "upload_cooldown=0s", "notice_interval=1s"];
  user = createStackUser();
  const args = [
    ...["--only", `${services},registry-gate`],
    ...quick.flatMap((setting) => ["--set", `builds.${setting}`]),
  ];
  stack = await startStack(args, undefined, { ...(user && { user }) });
  await stack.becomeOwner();
  packs = await made;
  player = await signIn(randomUUID());
  const files = { "server.properties": properties };
  islands = build(await submit("Sky islands", dockerfile(), files));
  const withToken = { ...files, "bot.properties": `github_token=${token}\n` };
  careless = build(await submit("Careless", dockerfile("COPY bot.properties /data/\n"), withToken));
  const started = [islands, careless];
  if (isWhole) {
    cliffs = build(await submitBytes("Cliffs", mrpack()));
    started.push(cliffs);
  }
  for (const one of started) one.catch(() => undefined);
});
after(async () => {
  await stack?.stop();
  await packs?.[Symbol.asyncDispose]();
  user?.remove();
});

/** A browser of a player who has just linked an account. */
async function signIn(mcUuid: string): Promise<Caller> {
  const minted = await stack.internal("POST", "/api/v1/internal/account/link/code", { mc_uuid: mcUuid });
  assert.equal(minted.status, 201, JSON.stringify(minted.body));
  const { external_base_url, panel_host } = stack.file();
  const host = `${panel_host.split(":")[0]}:${new URL(external_base_url).port}`;
  let cookie = "";
  const call: Caller = async (method, path, body, headers = {}) => {
    const all = { host, ...headers, ...(cookie && { cookie }) };
    const answer = await send(new URL(path, external_base_url).href, { method, headers: all, body });
    cookie = answer.headers["set-cookie"]?.[0]?.split(";")[0] ?? cookie;
    return answer;
  };
  const bound = await call(
    "POST",
    "/api/v1/auth/bind",
    minted.body && { code: (minted.body as { code: string }).code },
  );
  assert.equal(bound.status, 200, JSON.stringify(bound.body));
  return call;
}

async function answered<T>(
  call: Caller,
  [method, path, status]: [string, string, number],
  body?: unknown,
): Promise<T> {
  const answer = await call(method, path, body);
  assert.equal(answer.status, status, `${method} ${path}: ${JSON.stringify(answer.body)}`);
  return answer.body as T;
}

const staff: Caller = (method, path, body) => stack.external(method, path, body);

/** Uploads in two parts, the second of which is cut off once and sent again, as a browser does. */
async function upload(id: string, bytes: Buffer): Promise<Submission> {
  const parts = `/api/v1/me/submissions/${id}/context/upload`;
  const half = Math.ceil(bytes.length / 2);
  for (const part of [bytes.subarray(0, half), bytes.subarray(half)]) {
    const { received } = await answered<{ received: number }>(player, ["GET", parts, 200]);
    const digest = createHash("sha256").update(part).digest("base64");
    const headers = { "content-type": "application/octet-stream", "content-digest": `sha-256=:${digest}:` };
    const put = await player("PUT", `${parts}?offset=${received}`, part, headers);
    assert.equal(put.status, 200, JSON.stringify(put.body));
  }
  return answered<Submission>(player, ["POST", `${parts}/complete`, 200]);
}

async function submit(name: string, dockerfile: string, files: Record<string, string>): Promise<Submission> {
  const { bytes, sha256 }: Packed = await packs.pack(dockerfile, files);
  const complete = await submitBytes(name, bytes);
  assert.equal(complete.context_sha256, sha256);
  return complete;
}

async function submitBytes(name: string, bytes: Buffer): Promise<Submission> {
  // Creations have a cooldown.
  const created = await until(
    async () => {
      const answer = await player("POST", "/api/v1/me/submissions", { display_name: name });
      if (answer.status === 429) return undefined;
      assert.equal(answer.status, 201, JSON.stringify(answer.body));
      return answer.body as Submission;
    },
    60_000,
    "a submission to be created",
  );
  return upload(created.id, bytes);
}

async function own(id: string): Promise<Listed> {
  const { submissions } = await answered<{ submissions: Listed[] }>(player, [
    "GET",
    "/api/v1/me/submissions",
    200,
  ]);
  const found = submissions.find((one) => one.id === id);
  assert.ok(found, `${id} is not among the author's submissions`);
  return found;
}

/** Approves what was reviewed and returns the build once it has ended. */
async function build(submission: Submission): Promise<Outcome> {
  const { id, context_sha256 } = submission;
  const review = `/api/v1/submissions/${id}/approve`;
  const approved = await answered<Submission>(staff, ["POST", review, 200], {
    expected_digest: context_sha256,
  });
  const ended = await until(
    async () => {
      const { build_id = approved.build_id } = await own(id);
      if (build_id === undefined) return undefined;
      const found = await answered<Build>(staff, ["GET", `/api/v1/images/build/${build_id}`, 200]);
      return /^(succeeded|failed|cancelled)$/.test(found.status) ? found : undefined;
    },
    // The first scan of a machine fetches the scanner.
    240_000,
    `the build of ${id} to end`,
  );
  return { submission, build: ended };
}

const base = () => `${registryHost()}/svc/demo-server:1.21.4`;
const dockerfile = (more = "") =>
  `FROM ${base()}\nENV MAX_PLAYERS=7\nCOPY world /data/world\nCOPY server.properties /data/\n${more}`;
/** A pack of Modrinth that brings its settings and names no base: the operator's table does. */
function mrpack(): Buffer {
  const index = {
    ...{ formatVersion: 1, game: "minecraft", versionId: "1.0.0", name: "Cliffs", files: [] },
    dependencies: { minecraft: "1.21.4" },
  };
  return makeZip([
    { name: "modrinth.index.json", content: JSON.stringify(index), deflate: true },
    { name: "overrides/server.properties", content: "motd=Never seen\n", deflate: true },
    { name: "server-overrides/server.properties", content: "motd=The cliffs of Alice\n", deflate: true },
  ]);
}
const properties = "motd=The sky islands of Alice\n";

function registryHost(): string {
  const { registry } = stack.file();
  assert.ok(registry, "the stack has no registry");
  return registry.host;
}

async function isInRegistry(imageRef: string): Promise<boolean> {
  const [, host = "", path = "", tag = ""] = /^([^/]+)\/(.+):([^:/]+)$/.exec(imageRef) ?? [];
  const accept =
    "application/vnd.oci.image.manifest.v1+json, application/vnd.docker.distribution.manifest.v2+json";
  const response = await fetch(`http://${host}/v2/${path}/manifests/${tag}`, {
    method: "HEAD",
    headers: { accept },
  });
  assert.ok([200, 404].includes(response.status), `the registry answered ${response.status}`);
  return response.status === 200;
}

async function whitelisted(): Promise<string[]> {
  const { images } = await answered<{ images: { image_ref: string }[] }>(staff, [
    "GET",
    "/api/v1/images",
    200,
  ]);
  return images.map(({ image_ref }) => image_ref);
}

/** Creates a server of the image, wakes it and returns its address. */
async function wake(name: string, image: string): Promise<string> {
  const about = { name, subdomain: name, autostartPolicy: "public", image };
  await answered(staff, ["POST", "/api/v1/servers", 201], about);
  await answered(stack.internal, ["POST", `/api/v1/internal/servers/${name}/wake`, 202], {
    mc_uuid: randomUUID(),
  });
  const ready = await until(
    async () => {
      const info = await answered<{ phase: string; ready: boolean; endpointAddress?: string }>(
        stack.internal,
        ["GET", `/api/v1/internal/servers/${name}/status`, 200],
      );
      assert.notEqual(info.phase, "Failed");
      return info.phase === "Running" && info.ready ? info.endpointAddress : undefined;
    },
    60_000,
    `${name} to be ready`,
  );
  return ready;
}

test("no process of the stack runs as root", async () => {
  await Promise.allSettled([islands, careless]);
  const { processes } = stack.file();
  assert.ok(processes.some(({ name }) => name === "registry-gate"));
  const uids = processes.map(({ name, pid }) => `${name} ${statSync(`/proc/${pid}`).uid}`);
  assert.deepEqual(
    uids.filter((line) => line.endsWith(" 0")),
    [],
  );
});

test("a pack that was reviewed, built and scanned is the world and the MOTD of a server made of it", async () => {
  const { submission, build } = await islands;
  assert.equal(submission.status, "pending_review");
  assert.equal(build.status, "succeeded", build.error);
  assert.match(build.image_digest ?? "", /^sha256:[0-9a-f]{64}$/);
  assert.ok(await isInRegistry(build.image_ref));
  assert.ok((await whitelisted()).includes(build.image_ref));
  const { status, build_status } = await own(submission.id);
  assert.deepEqual([status, build_status], ["approved", "succeeded"]);

  const address = await wake("islands", build.image_ref);
  const [host = "", port = ""] = address.split(":");
  const shown = await protocol.ping({ host, port: Number(port), version: "1.21.4" });
  assert.match(JSON.stringify(shown), /The sky islands of Alice/);
  assert.equal((shown as { players: { max: number } }).players.max, 7);
  const alice = await join(address, "alice");
  const { x, y, z, block } = landmark;
  assert.equal(blockNameAt(alice, alice.bot.entity.position.clone().set(x, y, z)), block);
  await alice.leave();
});

test(
  "a pack of Modrinth without a Dockerfile is built from the operator's base, and its MOTD is shown",
  wholeOnly,
  async () => {
    const { submission, build } = await cliffs;
    assert.equal(build.status, "succeeded", build.error);
    const review = `/api/v1/submissions/${submission.id}/pack`;
    const pack = await answered<{ dockerfile: string }>(staff, ["GET", review, 200]);
    assert.ok(pack.dockerfile.startsWith(`FROM ${base()}\n`), pack.dockerfile);
    const address = await wake("cliffs", build.image_ref);
    const bob = await join(address, "bob");
    const [host = "", port = ""] = address.split(":");
    const shown = await protocol.ping({ host, port: Number(port), version: "1.21.4" });
    assert.match(JSON.stringify(shown), /The cliffs of Alice/);
    await bob.leave();
  },
);

test("a pack with a secret in it is blocked by the scan and never reaches the registry", async () => {
  const { submission, build } = await careless;
  assert.equal(build.status, "failed");
  assert.match(build.error ?? "", /the scan blocked the image/);
  assert.ok(!build.error?.includes(token));
  assert.equal(await isInRegistry(build.image_ref), false);
  assert.ok(!(await whitelisted()).includes(build.image_ref));
  const { build_status, build_error } = await own(submission.id);
  assert.equal(build_status, "failed");
  assert.match(build_error ?? "", /the scan blocked the image/);
});

test(
  "a finding that staff accept on the command line no longer blocks the pack, until it is removed",
  wholeOnly,
  async () => {
    const { submission, build: blocked } = await careless;
    const cli = async (...args: string[]) => {
      const ran = await stack.svc("acceptance", ...args);
      assert.equal(ran.code, 0, ran.stderr);
      return ran.stdout;
    };
    const { build_id } = await own(submission.id);
    const scan = `/api/v1/images/build/${build_id}/scan`;
    type Finding = { id: string; target: string; blocking: boolean };
    const { summary } = await answered<{ summary: { findings: Finding[] } }>(staff, ["GET", scan, 200]);
    const finding = summary.findings.find(({ blocking }) => blocking);
    assert.ok(finding);
    const login = await stack.svc("account", "login", "--with", "host");
    assert.equal(login.code, 0, login.stderr);
    const about = [finding.id, "--package", finding.target, "--reason", "Its token has been revoked."];
    const late = await stack.svc("acceptance", "add", ...about, "--days", "4000");
    assert.deepEqual([late.code, /expires_at/.test(late.stderr)], [1, true], late.stderr);
    const repository = blocked.image_ref.replace(/:[^:/]+$/, "");
    await cli("add", ...about, "--repository", repository);
    assert.match(await cli("list"), /bot\.properties .*Its token has been revoked\./);
    await answered(staff, ["POST", `/api/v1/images/build/${build_id}/retry`, 202]);
    const ended = await until(
      async () => {
        const found = await own(submission.id);
        return found.build_status === "succeeded" || found.build_status === "failed" ? found : undefined;
      },
      120_000,
      "the retry to end",
    );
    assert.deepEqual([ended.build_status, ended.build_error], ["succeeded", undefined]);
    assert.ok((await whitelisted()).includes(blocked.image_ref));
    const { acceptances } = JSON.parse(await cli("list", "--json")) as { acceptances: { id: string }[] };
    await cli("remove", acceptances[0]?.id ?? "");
    assert.match(await cli("list"), /No findings are accepted/);
  },
);

test("a rejected pack tells its author why, and nothing is built of it", async () => {
  const submission = await submit("Copied", dockerfile(), { "server.properties": properties });
  const review = `/api/v1/submissions/${submission.id}`;
  await answered(staff, ["POST", `${review}/reject`, 200], { reason: "This is somebody else's world." });
  const { status, reject_reason, build_id } = await own(submission.id);
  assert.deepEqual(
    [status, reject_reason, build_id],
    ["rejected", "This is somebody else's world.", undefined],
  );
  const late = { expected_digest: submission.context_sha256 };
  await answered(staff, ["POST", `${review}/approve`, 409], late);
});
