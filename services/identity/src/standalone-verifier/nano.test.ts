import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { thirdPartyId } from "../session-verifier/profile.ts";
import { type Player, type SessionServer, startSessionServer } from "../testing/session-server.ts";

const main = fileURLToPath(new URL("main.ts", import.meta.url));
const cli = fileURLToPath(new URL("../../../cli/src/main.ts", import.meta.url));
const start = (...argv: string[]) => spawn(process.execPath, argv, { stdio: ["ignore", "pipe", "pipe"] });

/** Runs it until it exits. */
async function run(...argv: string[]) {
  const child = start(main, ...argv);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
  return { code: child.exitCode, stdout, stderr };
}

describe("svc nano", () => {
  const dir = mkdtempSync(join(tmpdir(), "svc-nano-"));
  let mojang: SessionServer;
  let ely: SessionServer;
  let child: ChildProcess;
  let port: number;
  before(async () => {
    [mojang, ely] = await Promise.all([startSessionServer(), startSessionServer()]);
    const file = join(dir, "svc.toml");
    writeFileSync(
      file,
      `[server]\nroot_domain = "play.example.org"\n[identity]\nmojang_session_url = "${mojang.hasJoinedUrl}"
mojang_profile_url = "${mojang.profileUrl}"\n[[auth_source]]\ntag = "ely"\nprefix = "EL"\nurl = "${ely.hasJoinedUrl}"\n`,
    );
    const running = start(cli, "nano", "--config", file, "--listen", "127.0.0.1:0");
    child = running;
    for await (const line of createInterface({ input: running.stdout })) {
      const entry = JSON.parse(line) as { msg: string; port: number; sources: string[] };
      if (entry.msg !== "ready") continue;
      assert.deepEqual(entry.sources, ["mojang", "ely"]);
      port = entry.port;
      break;
    }
  });
  after(async () => {
    const exited = once(child, "exit");
    child.kill("SIGTERM");
    assert.deepEqual(await exited, [0, null]);
    await Promise.all([mojang.stop(), ely.stop()]);
    rmSync(dir, { recursive: true });
  });

  const newPlayer = (name: string): Player => ({
    id: randomUUID().replaceAll("-", ""),
    name,
    accessToken: randomBytes(8).toString("hex"),
  });
  const ask = (query: string, path = "/session/minecraft/hasJoined") =>
    fetch(`http://127.0.0.1:${port}${path}?${query}`);
  const joined = async (server: SessionServer, player: Player) => {
    server.add(player);
    await server.join(player, "-1f2e");
    return `username=${player.name}&serverId=-1f2e`;
  };
  const raw = async (request: string) => {
    const socket = connect({ host: "127.0.0.1", port });
    socket.write(request);
    return text(socket);
  };

  test("admits players of both sources, on both paths", async () => {
    const [steve, elly] = [newPlayer("Steve"), newPlayer("Elly")];
    const query = await joined(mojang, steve);
    for (const path of ["/session/minecraft/hasJoined", "/session/game/hasJoined"])
      assert.deepEqual(await (await ask(query, path)).json(), { id: steve.id, name: "Steve" });
    const answer = await ask(await joined(ely, elly));
    assert.deepEqual(await answer.json(), { id: thirdPartyId("ely", elly.id), name: "Elly" });
  });

  test("answers 204 without a body for an unknown player, and for missing or repeated parameters", async () => {
    for (const query of [
      "username=Nobody&serverId=x",
      "username=Nobody",
      "",
      "username=a&username=b&serverId=x",
    ]) {
      const answer = await ask(query);
      assert.equal(answer.status, 204, query);
      assert.equal(await answer.text(), "");
    }
  });

  test("answers 503 without a body while a source is down and no other knows the player", async () => {
    mojang.misbehave = (_request, response) => void response.writeHead(500).end();
    const answer = await ask("username=Nobody&serverId=x");
    mojang.misbehave = undefined;
    assert.equal(answer.status, 503);
    assert.equal(await answer.text(), "");
  });

  test("rejects a body and closes the connection", async () => {
    const head = "GET /session/minecraft/hasJoined?username=a&serverId=b HTTP/1.1\r\nHost: nano\r\n";
    for (const body of ["Content-Length: 3\r\n\r\nabc", "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"]) {
      const answer = await raw(head + body);
      assert.match(answer, /^HTTP\/1\.1 400 /);
      assert.match(answer, /connection: close/i);
      assert.ok(answer.endsWith("\r\n\r\n"));
    }
  });

  test("serves its health endpoint, and nothing else", async () => {
    assert.deepEqual(await (await ask("", "/healthz")).json(), { status: "ok" });
    assert.equal((await ask("", "/api/v1/servers")).status, 404);
    assert.equal((await fetch(`http://127.0.0.1:${port}/healthz`, { method: "POST" })).status, 405);
  });

  test("prints its help and rejects bad arguments", async () => {
    const help = await run("--help");
    assert.equal(help.code, 0);
    assert.match(help.stdout, /usage: svc nano/);
    const wrong: Record<string, RegExp> = {
      "--port=1": /--port/,
      "--listen=8081": /HOST:PORT/,
      "--listen=127.0.0.1:99999": /HOST:PORT/,
      "--config=/nowhere.toml": /nowhere\.toml cannot be read/,
      "--set=identity.session_source_timeout=soon": /session_source_timeout/,
    };
    for (const [argument, message] of Object.entries(wrong)) {
      const { code, stderr } = await run(argument);
      assert.equal(code, 1, argument);
      assert.match(stderr, message);
    }
  });
});
