// Status pages and badges from a gateway process, under the permissions that NATS is shipped with.

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { createInterface } from "node:readline";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { testProgram } from "@svc/config/test-program";
import type { Mesh, ViewWriter } from "@svc/mesh";
import { startTestNats, type TestNats, until } from "@svc/mesh/testing";
import { statusPages } from "@svc/proto";

let nats: TestNats;
let lifecycle: Mesh;
let gateway: ChildProcess;
let port: number;
let pages: ViewWriter<statusPages.StatusPage>;
let overviews: ViewWriter<statusPages.StatusOverview>;
let asked = 0;

before(async () => {
  nats = await startTestNats();
  lifecycle = await nats.connect("lifecycle");
  lifecycle.serve(statusPages.readPage, (context) => {
    asked++;
    throw context.fault("not_found");
  });
  [gateway, port] = await startGateway();
});
after(async () => {
  gateway.kill("SIGTERM");
  await once(gateway, "exit");
  await lifecycle.drain(500);
  await nats.stop();
});

async function startGateway(more = ""): Promise<[ChildProcess, number]> {
  const child = spawn(process.execPath, [testProgram(fileURLToPath(new URL("main.ts", import.meta.url)))], {
    env: {
      ...process.env,
      SVC_NATS_URL: nats.url,
      SVC_NATS_PASSWORD: nats.passwords["gateway-external"],
      SVC_LISTEN: "127.0.0.1:0",
      SVC_SET: `server.root_domain=example.test\n${more}`,
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  for await (const line of createInterface(child.stdout)) {
    const entry = JSON.parse(line);
    if (entry.msg !== "listening on the external face") continue;
    child.stdout.resume();
    return [child, entry.port];
  }
  throw new Error("the gateway ended before it listened");
}

type Answer = { status: number; headers: IncomingHttpHeaders; body: string };
const get = (path: string, headers: Record<string, string> = {}, at = port) =>
  new Promise<Answer>((settle, fail) => {
    const about = {
      hostname: "127.0.0.1",
      port: at,
      path,
      headers: { host: "console.example.test", ...headers },
    };
    const sent = httpRequest(about, (response) => {
      let body = "";
      response.setEncoding("utf8").on("data", (chunk: string) => {
        body += chunk;
      });
      response.on("end", () => settle({ status: response.statusCode ?? 0, headers: response.headers, body }));
    });
    sent.on("error", fail).end();
  });

const page = (more: Partial<statusPages.StatusPage> = {}): statusPages.StatusPage => ({
  ...{ subdomain: "anvil", address: "anvil.example.test", name: "Anvil", state: "asleep" },
  ...{ since: "2026-01-01T00:00:00.000Z", days: [], as_of: new Date().toISOString() },
  ...more,
});
const isThere = async (path: string) => (await get(path)).status === 200;

test("before anything was published the owner is asked, and a badge is 503", async () => {
  assert.equal((await get("/api/v1/status/anvil")).status, 404);
  assert.ok(asked > 0);
  const { status, headers } = await get("/api/v1/status/anvil/badge.svg");
  assert.deepEqual([status, headers["retry-after"]], [503, "1"]);
  pages = await lifecycle.writeView(statusPages.pages);
  overviews = await lifecycle.writeView(statusPages.overviews);
  await pages.replace(new Map([["anvil", page()]]));
  await overviews.replace(new Map());
  await until(() => isThere("/api/v1/status/anvil"));
});

test("a page is answered from memory to many, with a tag and for caches", async () => {
  const before = asked;
  const answers = await Promise.all(Array.from({ length: 200 }, () => get("/api/v1/status/anvil")));
  assert.ok(answers.every(({ status }) => status === 200));
  assert.equal(asked, before);
  const [first] = answers;
  assert.equal(JSON.parse(first?.body ?? "").address, "anvil.example.test");
  assert.equal(first?.headers["cache-control"], "public, max-age=5");
  const etag = String(first?.headers.etag);
  const again = await get("/api/v1/status/anvil", { "if-none-match": etag });
  assert.deepEqual([again.status, again.body], [304, ""]);
});

test("what is not shown is the same 404, and the owner is not asked for it", async () => {
  const before = asked;
  const bodies = new Set<string>();
  const paths = [
    "/none",
    "/ANVIL",
    "/_meta",
    "/constructor",
    "/%2e%2e",
    "/anvil.example.test",
    `/${"a".repeat(255)}`,
  ];
  for (const path of paths)
    for (const ending of ["", "/badge.svg"]) {
      const { status, headers, body } = await get(`/api/v1/status${path}${ending}`);
      assert.equal(status, 404, path);
      assert.equal(headers["cache-control"], "no-store");
      bodies.add(JSON.stringify({ ...JSON.parse(body).error, request_id: "" }));
    }
  assert.equal(bodies.size, 1);
  assert.equal((await get("/api/v1/status")).status, 404, "neither is the list");
  assert.equal(asked, before);
});

test("the list is there as soon as staff show it", async () => {
  const as_of = new Date().toISOString();
  const { since: _since, days: _days, as_of: _asOf, ...server } = page();
  await overviews.put(statusPages.overviewKey, { servers: [server], more: 0, as_of });
  await until(() => isThere("/api/v1/status"));
  assert.deepEqual(JSON.parse((await get("/api/v1/status")).body).servers, [server]);
});

describe("a badge", () => {
  const path = "/api/v1/status/anvil/badge.svg";

  test("is a picture that other sites may show and that does nothing", async () => {
    const { status, headers, body } = await get(path);
    assert.equal(status, 200);
    assert.equal(headers["content-type"], "image/svg+xml; charset=utf-8");
    assert.equal(headers["cross-origin-resource-policy"], "cross-origin");
    assert.equal(headers["cache-control"], "public, max-age=60");
    assert.match(
      String(headers["content-security-policy"]),
      /^default-src 'none'; style-src 'sha256-.*sandbox$/,
    );
    assert.equal(headers["x-content-type-options"], "nosniff");
    assert.equal(headers["set-cookie"], undefined);
    assert.match(body, /<title>Anvil: asleep<\/title>/);
    const again = await get(path, { "if-none-match": String(headers.etag) });
    assert.deepEqual([again.status, again.body], [304, ""]);
    assert.equal((await get("/api/v1/status/anvil")).headers["cross-origin-resource-policy"], undefined);
  });

  test("speaks the language that is asked for, and no other", async () => {
    assert.match((await get(`${path}?language=zh`)).body, /<title>Anvil: 休眠中<\/title>/);
    assert.equal((await get(`${path}?language=xx`)).status, 400);
    assert.equal((await get(`${path}?label=x`)).status, 400);
  });

  test("follows the server, with a hostile name as text", async () => {
    const players = { online: 3, max: 20 };
    await pages.put("anvil", page({ state: "online", players, name: `<script>"&'` }));
    await until(async () => (await get(path)).body.includes("online 3/20"));
    const { body } = await get(path);
    assert.match(body, /<title>&#60;script&#62;&#34;&#38;&#39;: online 3\/20<\/title>/);
  });

  test("says that it does not know once nobody has written for minutes", async () => {
    await pages.put("anvil", page({ as_of: new Date(Date.now() - 4 * 60_000).toISOString() }));
    await until(async () => (await get(path)).body.includes("Anvil: unknown"));
    assert.match(
      (await get("/api/v1/status/anvil")).body,
      /"state":"asleep"/,
      "a page has the time beside it",
    );
  });
});

test("without lifecycle the last that is known is answered", async () => {
  await pages.close();
  await overviews.close();
  await lifecycle.drain(500);
  assert.equal((await get("/api/v1/status/anvil")).status, 200);
  assert.equal((await get("/api/v1/status/anvil/badge.svg")).status, 200);
  assert.equal((await get("/api/v1/status/other")).status, 404);
  lifecycle = await nats.connect("lifecycle");
});

test("one address reads so much in a minute, whatever it asks for", async (t) => {
  const [limited, at] = await startGateway("gateway.public_reads=5");
  const exited = once(limited, "exit");
  t.after(async () => {
    limited.kill("SIGTERM");
    await exited;
  });
  const statuses: number[] = [];
  for (const path of ["/a", "/b/badge.svg", "", "/c", "/d?x=1", "/e", "/anvil/badge.svg"])
    statuses.push((await get(`/api/v1/status${path}`, {}, at)).status);
  assert.deepEqual(statuses.slice(5), [429, 429]);
  assert.ok(!statuses.slice(0, 5).includes(429));
  const { headers, body } = await get("/api/v1/status/anvil", {}, at);
  assert.equal(JSON.parse(body).error.code, "rate_limited");
  // Twelve seconds for each of five, less what the test itself has taken.
  const retryAfter = Number(headers["retry-after"]);
  assert.ok(retryAfter >= 1 && retryAfter <= 12, `${retryAfter} s`);
});
