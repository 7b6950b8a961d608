// SFTP with keys from `npm run up -- --sftp`: worlds of sleeping servers by the rules of the file operations.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { until } from "@svc/local-stack/testing";
import {
  addKey,
  type Client,
  connect,
  type KeyPair,
  makeKey,
  newcomer,
  openSsh,
  startEndpoint,
} from "./sftp-client.ts";
import { addHostileTests } from "./sftp-hostile.ts";
import { type Stack, startStack, withoutGame } from "./stack.ts";

const username = "survival";
let stack: Stack;
let port = 0;
let key: KeyPair;
let keyId = "";
let client: Client;
/** Folder of the world, on this machine. */
let world = "";

before(async () => {
  stack = await startStack([...withoutGame, "--sftp"]);
  await stack.becomeOwner();
  assert.equal((await stack.svc("account", "login", "--with", "host")).code, 0);
  const { body: me } = await stack.external("GET", "/api/v1/me");
  const owner = (me as { user_id: string }).user_id;
  const about = {
    name: username,
    subdomain: username,
    autostartPolicy: "public",
    nodeName: "local-1",
    owner,
  };
  const made = await stack.external("POST", "/api/v1/servers", about);
  assert.equal(made.status, 201, JSON.stringify(made.body));
  port = stack.file().sftp?.port ?? 0;
  key = makeKey();
  keyId = await addKey(stack.external, key);
  client = await connect(port, { username, key });
});
after(async () => {
  client?.end();
  await stack?.stop();
});

async function phaseBecomes(phase: string): Promise<void> {
  const at = `/api/v1/internal/servers/${username}/status`;
  const read = async () => ((await stack.internal("GET", at)).body as { phase: string }).phase === phase;
  await until(read, 60_000, `the server to be ${phase}`);
}

type Refusal = { code?: number; message?: string };
const refusalOf = (work: Promise<unknown>) =>
  work.then(
    () => ({}) as Refusal,
    (reason: unknown) => reason as Refusal,
  );
const codeOf = async (work: Promise<unknown>) => (await refusalOf(work)).code;
const [noSuchFile, denied, failure] = [2, 3, 4];

test("the world of a server that runs is closed, and says why", async () => {
  const path = `/api/v1/servers/${username}`;
  const wake = { mc_uuid: "069a79f4-44e9-4726-a5be-fca90e38aaf5" };
  const woken = await stack.internal("POST", `/api/v1/internal/servers/${username}/wake`, wake);
  assert.equal(woken.status, 202, JSON.stringify(woken.body));
  await phaseBecomes("Running");
  const { code, message = "" } = await refusalOf(client.list("/"));
  assert.equal(code, failure);
  assert.match(message, /stop/i);
  assert.equal(await codeOf(client.write("/note.txt", "x")), failure);
  assert.equal((await stack.external("POST", `${path}/stop`)).status, 202);
  await phaseBecomes("Stopped");
  const volumes = join(stack.dataDir, "cluster", "volumes");
  const found = readdirSync(volumes, { recursive: true, encoding: "utf8" }).find((name) =>
    name.endsWith("/server.properties"),
  );
  world = join(volumes, found ?? "", "..");
});

test("files are written, read, changed in part, renamed and removed", async () => {
  await client.write("/note.txt", "one\n");
  assert.equal((await client.read("note.txt")).toString(), "one\n");
  assert.ok((await client.list("/")).includes("note.txt"));
  await client.write("/note.txt", "two\n");
  await client.write("/note.txt", "three\n", "a");
  assert.equal((await client.read("/note.txt")).toString(), "two\nthree\n");
  const { size } = await client.ask<{ size: number }>("stat", "/note.txt");
  assert.equal(size, 10);
  assert.equal(await codeOf(client.write("/note.txt", "x", "wx")), failure);
  await client.ask("mkdir", "/notes");
  assert.equal(await codeOf(client.ask("mkdir", "/notes")), failure);
  await client.ask("rename", "/note.txt", "/notes/note.txt");
  assert.equal(await codeOf(client.read("/note.txt")), noSuchFile);
  assert.equal(await codeOf(client.ask("rmdir", "/notes")), failure);
  const removed = await refusalOf(client.ask("unlink", "/notes"));
  assert.deepEqual([removed.code, removed.message], [failure, "/notes is a folder; remove it with rmdir."]);
  const asFolder = await refusalOf(client.ask("rmdir", "/notes/note.txt"));
  assert.deepEqual(
    [asFolder.code, asFolder.message],
    [failure, "/notes/note.txt is not a folder; remove it with rm."],
  );
  await client.ask("utimes", "/notes/note.txt", 1, 1);
  await client.ask("unlink", "/notes/note.txt");
  await client.ask("rmdir", "/notes");
  assert.equal(await codeOf(client.list("/notes")), noSuchFile);
});

test("no path leads out of the world, and no links are followed or made", async () => {
  assert.equal(await client.ask("realpath", "../../etc/./passwd"), "/etc/passwd");
  assert.equal(await codeOf(client.read("../../../../etc/passwd")), noSuchFile);
  for (const path of ["/a\u0000b", "/a\\..\\..\\b", "/.svc-x"])
    assert.notEqual(await codeOf(client.write(path, "x")), undefined, JSON.stringify(path));
  symlinkSync("/etc", join(world, "out"));
  symlinkSync("/etc/passwd", join(world, "leak"));
  for (const path of ["/out/passwd", "/leak", "/out"])
    assert.notEqual(await codeOf(client.read(path)), undefined, path);
  for (const path of ["/out/new", "/leak"])
    assert.notEqual(await codeOf(client.write(path, "x")), undefined, path);
  assert.notEqual(await codeOf(client.list("/out")), undefined);
  assert.equal(await codeOf(client.ask("symlink", "/etc", "/link")), 8);
  assert.equal(await codeOf(client.ask("rmdir", "/")), denied);
  await client.ask("unlink", "/out");
  await client.ask("unlink", "/leak");
  assert.ok(readFileSync("/etc/passwd").length > 1);
});

test("the RCON password is never shown, and its mask never written in its place", async () => {
  const stored = readFileSync(join(world, "server.properties"), "utf8");
  const [, password = ""] = /^rcon\.password=(.+)$/m.exec(stored) ?? [];
  assert.ok(password.length > 8, "the platform sets a password");
  const seen = (await client.read("/server.properties")).toString();
  assert.match(seen, /^rcon\.password=/m);
  assert.ok(!seen.includes(password));
  for (const flags of ["w", "a", "r+"])
    assert.equal(await codeOf(client.write("/server.properties", seen, flags)), denied, flags);
  assert.equal(await codeOf(client.ask("rename", "/server.properties", "/other")), denied);
  await client.write("/new.properties", seen);
  assert.equal(await codeOf(client.ask("rename", "/new.properties", "/server.properties")), denied);
  await client.ask("unlink", "/new.properties");
  assert.equal(readFileSync(join(world, "server.properties"), "utf8"), stored);
});

test("a folder with more entries than one listing has is listed whole", async () => {
  mkdirSync(join(world, "many"));
  const names = Array.from({ length: 5_100 }, (_, at) => `f${String(at).padStart(5, "0")}`);
  for (const name of names) writeFileSync(join(world, "many", name), "");
  assert.deepEqual((await client.list("/many")).sort(), names);
  assert.equal((await client.ask<{ size: number }>("stat", "/many/f05099")).size, 0);
  assert.equal(await codeOf(client.ask("stat", "/many/f05100")), noSuchFile);
  const listed = await stack.svc("files", "ls", username, "many", "--json");
  const { entries, truncated } = JSON.parse(listed.stdout) as {
    entries: { name: string }[];
    truncated: boolean;
  };
  assert.deepEqual([entries.map(({ name }) => name), truncated], [names, false]);
  const planned = await stack.svc("files", "rm", username, "many/f05099");
  assert.match(planned.stdout, /Plan: delete many\/f05099 /);
  const missing = await stack.svc("files", "rm", username, "many/f05100");
  assert.match(missing.stderr, /many\/f05100 not found/);
});

test("a file of 20 MiB goes there and back", async () => {
  const data = Buffer.alloc(20 * 1_048_576, "0123456789abcdef");
  await client.write("/large.bin", data);
  assert.ok((await client.read("/large.bin")).equals(data));
  await client.ask("unlink", "/large.bin");
});

test("a change waits while a backup is being made", async () => {
  const handle = await client.ask<Buffer>("open", "/meanwhile.txt", "w");
  await client.ask("write", handle, Buffer.from("kept"), 0, 4, 0);
  const started = await stack.external("POST", `/api/v1/servers/${username}/backup`);
  assert.equal(started.status, 202, JSON.stringify(started.body));
  await client.ask("close", handle);
  assert.equal((await client.read("/meanwhile.txt")).toString(), "kept");
  await client.ask("unlink", "/meanwhile.txt");
});

test("OpenSSH's client works, and meets the host key that people are told", async (t) => {
  const commands = ["mkdir made", "put batch made/b.txt", "ls -l made", "rename made/b.txt made/c.txt"];
  const more = [
    "get made/c.txt back",
    "rm made/c.txt",
    "rmdir made",
    "-rmdir many",
    "-put batch server.properties",
  ];
  using run = await openSsh(port, { username, key }, [...commands, ...more]);
  if (run.code === undefined) return t.skip("no sftp");
  assert.equal(run.code, 0, run.said);
  assert.match(run.said, /^-rw-r--r-- .* b\.txt/m);
  assert.match(run.said, /svc: many is not empty/);
  assert.deepEqual(readFileSync(join(run.dir, "back")), readFileSync(join(run.dir, "batch")));
  assert.deepEqual(readdirSync(world).includes("made"), false);
  const { body } = await stack.external("GET", "/api/v1/sftp");
  const { endpoint } = body as { endpoint: { host: string; port: number; fingerprint: string } };
  const printed = execFileSync("ssh-keygen", ["-l", "-f", join(run.dir, "known")], { encoding: "utf8" });
  assert.deepEqual(
    [endpoint.host, endpoint.port, endpoint.fingerprint],
    ["127.0.0.1", port, printed.split(" ")[1]],
  );
});

test("the command line adds, lists and removes keys, and never reads a private one", async () => {
  const [file, secret] = [join(stack.dataDir, "other.pub"), join(stack.dataDir, "other")];
  const other = makeKey();
  writeFileSync(file, `${other.line}\n`);
  writeFileSync(secret, other.privateKey);
  const refused = await stack.svc("keys", "add", secret);
  assert.match(refused.stderr, /is a private key/);
  const added = await stack.svc("keys", "add", file, "--name", "tower");
  assert.equal(added.code, 0, added.stderr);
  assert.match(added.stdout, new RegExp(`Connect with: sftp -P ${port} SERVER@127.0.0.1`));
  const one = await connect(port, { username, key: other });
  const { stdout } = await stack.svc("keys", "list");
  assert.match(stdout, /tower +ssh-ed25519 +SHA256:\S+ +20\S+ +127\.0\.0\.1/);
  assert.match((await stack.svc("keys", "remove", "unknown")).stderr, /there is no SSH key unknown/);
  const removed = await stack.svc("keys", "remove", "tower");
  assert.equal(removed.code, 0, removed.stderr);
  await one.closed;
});

test("nobody else's key and no other server opens anything", async () => {
  await assert.rejects(connect(port, { username, key: makeKey() }));
  await assert.rejects(connect(port, { username: "another", key }));
});

describe("what is not finished never reaches the world", () => {
  test("when the client goes away", async () => {
    await client.write("/kept.txt", "kept");
    const broken = await connect(port, { username, key });
    const handle = await broken.ask<Buffer>("open", "/kept.txt", "w");
    await broken.ask("write", handle, Buffer.from("half"), 0, 4, 0);
    broken.end();
    await broken.closed;
    assert.equal((await client.read("/kept.txt")).toString(), "kept");
  });

  test("when the process is killed, also in the middle of an upload; the next one lets the same clients in", async () => {
    const old = Buffer.alloc(12 * 1_048_576, "old");
    const fresh = Buffer.alloc(12 * 1_048_576, "fresh");
    await client.write("/kept.bin", old);
    for (const afterMs of [0, 150, 500]) {
      const endpoint = await startEndpoint(stack);
      try {
        const one = await connect(endpoint.port, { username, key });
        const handle = await one.ask<Buffer>("open", "/kept.bin", "w");
        for (let at = 0; at < fresh.length; at += 32_768)
          await one.ask("write", handle, fresh, at, 32_768, at);
        const closing = one.ask("close", handle).catch(() => undefined);
        await sleep(afterMs);
        await endpoint.stop("SIGKILL");
        await closing;
      } finally {
        await endpoint.stop("SIGKILL");
      }
      const found = await until(() => client.read("/kept.bin").catch(() => undefined), 60_000, "the file");
      assert.ok(found.equals(old) || found.equals(fresh), `killed after ${afterMs} ms`);
    }
    const hidden = readdirSync(world).filter((name) => name.startsWith(".svc-"));
    await client.write("/kept.bin", "small");
    assert.deepEqual(
      readdirSync(world).filter((name) => hidden.includes(name)),
      [],
    );
  });
});

addHostileTests(() => ({ stack, port, key, username }));

describe("what opened a connection ends it", () => {
  test("access that is taken back, and an account that is disabled", async () => {
    const { ask, userId } = await newcomer(stack);
    const theirs = makeKey();
    await addKey(ask, theirs);
    await assert.rejects(connect(port, { username, key: theirs }), "without access");
    const invitations = `/api/v1/servers/${username}/invitations`;
    const share = async () => {
      const limits = { read_paths: ["shared"], write_paths: ["shared"] };
      const rights = ["see", "files.read", "files.write"];
      const { body } = await stack.external("POST", invitations, { rights, limits });
      const { secret } = body as { secret: string };
      const taken = await ask("POST", "/api/v1/me/invitations/accept", { secret });
      assert.ok(taken.status < 300, JSON.stringify(taken.body));
    };
    await client.ask("mkdir", "/shared");
    await share();
    const member = await connect(port, { username, key: theirs });
    await member.write("/shared/a.txt", "a");
    assert.equal((await member.read("/shared/a.txt")).toString(), "a");
    assert.equal(await codeOf(member.read("/kept.txt")), denied);
    assert.equal(await codeOf(member.write("/b.txt", "b")), denied);
    const members = `/api/v1/servers/${username}/members`;
    const { body } = await stack.external("GET", members);
    const [listed] = (body as { members: { id: string }[] }).members;
    const left = await stack.external("DELETE", `${members}/${listed?.id}`);
    assert.ok(left.status < 300, JSON.stringify(left.body));
    await member.closed;
    await share();
    const again = await connect(port, { username, key: theirs });
    const disabled = await stack.external("POST", `/api/v1/users/${userId}/disable`, { disabled: true });
    assert.equal(disabled.status, 200, JSON.stringify(disabled.body));
    await again.closed;
    await assert.rejects(connect(port, { username, key: theirs }));
  });

  test("a key that is removed, with what the audit log says of it", async () => {
    const removed = await stack.external("DELETE", `/api/v1/account/ssh-keys/${keyId}`);
    assert.equal(removed.status, 204, JSON.stringify(removed.body));
    await client.closed;
    await assert.rejects(connect(port, { username, key }));
    const keys = ["account.ssh-key.add", "auth.sftp.login", "account.ssh-key.remove"];
    for (const action of [...keys, "file.write", "file.delete"]) {
      const { body } = await stack.external("GET", `/api/v1/audit?action=${action}`);
      assert.ok((body as { entries: unknown[] }).entries.length > 0, action);
    }
  });
});
