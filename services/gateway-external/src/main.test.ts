// The gateway as a process, under the permissions that NATS is shipped with.

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { createInterface } from "node:readline";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { ApiError, createClient } from "@svc/client";
import { testProgram } from "@svc/config/test-program";
import type { Mesh } from "@svc/mesh";
import { startTestNats, type TestNats, until } from "@svc/mesh/testing";
import { accounts, eventSubject } from "@svc/proto";
import { type PanelFixture, script, writePanelFixture } from "./panel/panel-fixture.ts";

let nats: TestNats;
let identity: Mesh;
let gateway: ChildProcess;
let baseUrl: string;
const cookie = "c".repeat(43);
const hash = createHash("sha256").update(cookie).digest("hex");
let isLive = true;
let panel: PanelFixture;

before(async () => {
  panel = writePanelFixture(Date.now());
  nats = await startTestNats();
  identity = await nats.connect("identity");
  const live = { user_id: "usr-1", username: "one", role: "owner", setup: false, host: "player" } as const;
  identity.serve(accounts.resolveSession, ({ log: _ }, asked) => {
    if (!isLive || asked.hash !== hash) return { state: "unknown" as const };
    return { ...live, state: "live" as const, expires_at: "2999-01-01T00:00:00.000Z" };
  });
  identity.serve(accounts.takeSignInBudget, () => ({ allowed: true, retry_after_seconds: 0 }));
  identity.serve(accounts.me, ({ principal }) => ({
    user_id: principal.kind === "account" ? principal.user_id : "",
    username: "one",
    email: "one@example.org",
    role: "owner" as const,
    is_admin: principal.kind === "account" && principal.staff,
    is_owner: true,
    email_verified: true,
  }));
  gateway = spawn(process.execPath, [testProgram(fileURLToPath(new URL("main.ts", import.meta.url)))], {
    env: {
      ...process.env,
      SVC_NATS_URL: nats.url,
      SVC_NATS_PASSWORD: nats.passwords["gateway-external"],
      SVC_LISTEN: "127.0.0.1:0",
      SVC_SET: `server.root_domain=example.test\npanel.dir=${panel.dir}`,
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  baseUrl = await listeningAt(gateway);
});
after(async () => {
  if (gateway.exitCode === null) {
    gateway.kill("SIGTERM");
    await once(gateway, "exit");
  }
  await identity.drain(500);
  await nats.stop();
  panel.remove();
});

async function listeningAt(child: ChildProcess): Promise<string> {
  assert.ok(child.stdout);
  const lines = createInterface(child.stdout);
  for await (const line of lines) {
    const entry = JSON.parse(line);
    if (entry.msg !== "listening on the external face") continue;
    child.stdout.resume();
    return `http://127.0.0.1:${entry.port}`;
  }
  throw new Error("the gateway ended before it listened");
}

test("a session reaches its owner through the permissions of the mesh", async () => {
  const me = await createClient({ baseUrl, cookie }).call(accounts.me, {});
  assert.equal(me.user_id, "usr-1");
  assert.equal(me.is_admin, false);
});

test("a refusal comes to a client as an ApiError with its code and request id", async () => {
  const headers = { "x-request-id": "known" };
  const call = createClient({ baseUrl, headers }).call(accounts.me, {});
  await assert.rejects(call, (error) => {
    assert.ok(error instanceof ApiError);
    assert.deepEqual(
      { status: error.status, code: error.code, requestId: error.requestId },
      { status: 401, code: "unauthorized", requestId: "known" },
    );
    return true;
  });
});

test("a client gives a sign-in endpoint its content type, and hears the rest of a 503", async () => {
  await assert.rejects(createClient({ baseUrl }).call(accounts.redeemSetup, { token: "x" }), (error) => {
    assert.ok(error instanceof ApiError);
    assert.equal(error.status, 503);
    assert.equal(error.retryAfterSeconds, 1);
    return true;
  });
});

test("a client refuses a path parameter that would reach another operation", async () => {
  const client = createClient({ baseUrl, cookie });
  await assert.rejects(client.call(accounts.revokeSession, { hash: ".." }), /hash cannot be/);
});

test("a revoke event reaches the gateway", async () => {
  const client = createClient({ baseUrl, cookie });
  await client.call(accounts.me, {});
  isLive = false;
  const data = { hash, user_id: "usr-1", at: new Date().toISOString() };
  const body = Buffer.from(JSON.stringify(data));
  await identity.publish([{ id: "revoked-1", subject: eventSubject(accounts.sessionRevoked, data), body }]);
  const isRefused = () =>
    client.call(accounts.me, {}).then(
      () => false,
      () => true,
    );
  await until(isRefused);
});

test("the internal face's operations are not here", async () => {
  for (const path of ["/readyz", "/metrics", "/api/v1/internal/servers/a/status"]) {
    assert.equal((await fetch(baseUrl + path)).status, 404, path);
  }
});

type Answer = { status: number; headers: IncomingHttpHeaders; body: Buffer };

describe("the panel", () => {
  const panelHost = "console.example.test";
  const adminHost = "op.console.example.test";

  const send = (path: string, headers: Record<string, string> = {}, method = "GET") =>
    new Promise<Answer>((settle, fail) => {
      const { hostname, port } = new URL(baseUrl);
      const given = { host: panelHost, ...headers };
      const asked = httpRequest({ hostname, port, path, method, headers: given }, (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("end", () =>
          settle({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(chunks),
          }),
        );
      });
      asked.on("error", fail);
      asked.end();
    });

  test("the document names the host that serves it, on both hosts and behind any port", async () => {
    for (const [host, face] of [
      [panelHost, "player"],
      [`${panelHost}:8443`, "player"],
      ["Op.Console.Example.Test.", "operator"],
    ] as const) {
      const { status, headers, body } = await send("/", { host });
      assert.equal(status, 200);
      assert.match(body.toString(), new RegExp(`content="${face}".*${panelHost} ${adminHost} example.test`));
      assert.equal(headers["content-type"], "text/html; charset=utf-8");
      assert.equal(headers["cache-control"], "no-cache");
    }
  });

  test("the document and its assets carry the policy of a page", async () => {
    for (const path of ["/", "/no/such/page", "/assets/main-1a2b.js"]) {
      const { headers } = await send(path);
      assert.match(String(headers["content-security-policy"]), /script-src 'self'; style-src 'self'/);
      assert.match(String(headers["content-security-policy"]), /frame-ancestors 'none'/);
      assert.match(
        String(headers["content-security-policy"]),
        /require-trusted-types-for 'script'; trusted-types 'none'$/,
      );
      assert.equal(headers["x-frame-options"], "DENY");
      assert.equal(headers["x-content-type-options"], "nosniff");
      assert.equal(headers["referrer-policy"], "no-referrer");
      assert.equal(headers["cross-origin-opener-policy"], "same-origin");
      assert.equal(
        headers["permissions-policy"],
        "camera=(), microphone=(), geolocation=(), usb=(), payment=()",
      );
    }
  });

  test("API answers keep their own policy on the panel's host", async () => {
    for (const path of ["/api/v1/me", "/api/v1/nothing", "/healthz", "/assets/none.js"]) {
      const { headers } = await send(path);
      assert.equal(headers["content-security-policy"], "default-src 'none'", path);
      assert.equal(headers["content-type"], "application/json", path);
      assert.equal(headers["cross-origin-opener-policy"], undefined, path);
    }
  });

  test("a known path is 200, any other page 404 with the same document", async () => {
    for (const path of ["/login", "/servers/survival", "/servers/a%2Fb", "/login/", "/login?next=%2F"])
      assert.equal((await send(path)).status, 200, path);
    for (const path of ["/nothing", "/servers//", "/servers/a/b", "//evil.example/", "/%61pi"]) {
      const { status, headers } = await send(path);
      assert.deepEqual([status, headers["content-type"]], [404, "text/html; charset=utf-8"], path);
    }
  });

  test("pages of the operator console are not found on the panel's host", async () => {
    assert.equal((await send("/admin/users")).status, 404);
    assert.equal((await send("/admin/users", { host: adminHost })).status, 200);
  });

  test("paths of the API, and those that end in a file's name, are never a document", async () => {
    const paths = [
      "/api",
      "/api/",
      "/api/v1/servers/../../login",
      "/session",
      "/session/game/none",
      "/readyz",
      "/metrics",
      "/favicon.ico",
      "/servers/world.zip",
      "/.env",
      "/assets",
      "/assets/",
    ];
    for (const path of paths) {
      const { status, headers } = await send(path);
      const isDocument = String(headers["content-type"]).startsWith("text/html");
      assert.ok(status === 404 && (!isDocument || path === "/assets"), `${path}: ${status}`);
    }
  });

  test("no path leaves the folder of the panel", async () => {
    const paths = [
      "/assets/../build.json",
      "/assets/..%2fbuild.json",
      "/assets/%2e%2e/index.html",
      "/assets/..\\build.json",
      "/assets/main-1a2b.js%00",
      "/assets//main-1a2b.js",
      "/assets/main-1a2b.js/",
      "/assets/main-1a2b.js.br",
      "/assets/source.map",
      "/assets/%",
      "/build.json",
      "/index.html",
      "/assets/__proto__",
      "/assets/constructor",
    ];
    for (const path of paths) {
      const { status, headers } = await send(path);
      assert.ok(status === 404 || status === 400, `${path}: ${status}`);
      assert.equal(headers["content-type"], "application/json", path);
    }
  });

  test("an asset is packed as the browser takes it, and stays for a year", async () => {
    const path = "/assets/main-1a2b.js";
    const plain = await send(path);
    assert.equal(plain.body.toString(), script);
    assert.equal(plain.headers["content-encoding"], undefined);
    assert.equal(plain.headers["cache-control"], "public, max-age=31536000, immutable");
    assert.equal(plain.headers.vary, "Accept-Encoding");
    assert.equal(plain.headers["content-type"], "text/javascript; charset=utf-8");
    const br = await send(path, { "accept-encoding": "gzip, deflate, br" });
    assert.equal(br.headers["content-encoding"], "br");
    assert.equal(brotliDecompressSync(br.body).toString(), script);
    const gzip = await send(path, { "accept-encoding": "br;q=0, gzip;q=0.5" });
    assert.equal(gzip.headers["content-encoding"], "gzip");
    assert.equal(gunzipSync(gzip.body).toString(), script);
    const none = await send(path, { "accept-encoding": "*;q=0" });
    assert.equal(none.headers["content-encoding"], undefined);
  });

  test("HEAD has the headers and no body", async () => {
    for (const path of ["/", "/assets/main-1a2b.js"]) {
      const { status, headers, body } = await send(path, {}, "HEAD");
      assert.equal(status, 200);
      assert.ok(Number(headers["content-length"]) > 0);
      assert.equal(body.length, 0);
    }
  });

  test("the document is not sent again while it is the same", async () => {
    const first = await send("/", { "accept-encoding": "br" });
    const etag = String(first.headers.etag);
    const again = await send("/", { "accept-encoding": "br", "if-none-match": `"x", W/${etag}` });
    assert.deepEqual([again.status, again.body.length, again.headers.etag], [304, 0, etag]);
    const other = await send("/", { "accept-encoding": "gzip", "if-none-match": etag });
    assert.equal(other.status, 200, "another form has another tag");
    const operator = await send("/", { host: adminHost, "accept-encoding": "br", "if-none-match": etag });
    assert.equal(operator.status, 200, "the other host has another document");
    const missing = await send("/nothing", { "accept-encoding": "br", "if-none-match": etag });
    assert.equal(missing.status, 404);
  });

  test("assets of the build before stay for a day", async () => {
    assert.equal((await send("/assets/yesterday-9f8e.js")).status, 200);
    assert.equal((await send("/assets/long-ago-7d6c.js")).status, 404);
  });

  test("other methods and hosts are answered as the API answers", async () => {
    for (const method of ["POST", "PUT", "DELETE", "OPTIONS"]) {
      const { status, headers } = await send("/login", {}, method);
      assert.deepEqual([status, headers["content-type"]], [404, "application/json"], method);
    }
    for (const host of ["example.test", "evil.example", "x.console.example.test", "127.0.0.1"]) {
      for (const path of ["/login", "/assets/main-1a2b.js"])
        assert.equal((await send(path, { host })).status, 404, `${host}${path}`);
    }
  });

  test("a browser at a loopback address is sent to the panel's host, a program is not", async () => {
    const html = { accept: "text/html,application/xhtml+xml" };
    for (const host of ["127.0.0.1:8080", "localhost:8080", "[::1]:8080"]) {
      const { status, headers } = await send("/", { host, ...html });
      assert.deepEqual([status, headers.location], [302, `http://${panelHost}:8080/`], host);
    }
    assert.equal((await send("/", { host: "127.0.0.1:8080" })).status, 404);
    assert.equal((await send("/login", { host: "127.0.0.1:8080", ...html })).status, 404);
    assert.equal((await send("/", { host: "10.0.0.1", ...html })).status, 404);
  });
});

test("SIGTERM ends it in order", async () => {
  gateway.kill("SIGTERM");
  const [code] = await once(gateway, "exit");
  assert.equal(code, 0);
});
