// Names, subdomains and paths that must be refused (docs/reference/server-resource.md#names, docs/reference/server-resource.md#create).

import assert from "node:assert/strict";
import { test } from "node:test";
import { assertRefused, parseResponse, sendBytes, sendRequest } from "./raw-request.ts";
import { player, type StackFixture, serverName } from "./stack-fixture.ts";

const rule = /3 to 32 of a-z, 0-9 and -/;

const badNames = [
  "",
  "..",
  ".",
  "../etc",
  "..\\etc",
  "a/b",
  "/etc/passwd",
  "%2e%2e",
  "Survival",
  "sur vival",
  "sur\u0000vival",
  "sur\nvival",
  "survival\n",
  "sürvival",
  "ѕurvival",
  "surv\u0131val",
  "\u{1F600}\u{1F600}\u{1F600}",
  "-survival",
  "survival-",
  "sur_vival",
  "sur.vival",
  "su",
  "a".repeat(33),
  "a".repeat(64),
  "*",
  ">",
  "$JS.API",
  "$(id)",
  "'; drop table servers; --",
];
const reserved = ["login", "lobby", "admin", "panel", "console", "api", "velocity", "registry", "internal"];

const badSegments = [
  "..%2f..%2fetc",
  "%2e%2e",
  "%2Fetc%2Fpasswd",
  "..%5c..",
  "a%00b",
  "Survival",
  "survival%0a",
  "survival%20",
  "%F0%9F%98%80",
  "a".repeat(33),
  "*",
  ">",
  "$SYS",
  "sur.vival",
  "-ab",
];

export function checkNames(fixture: () => StackFixture): void {
  test("a malformed or reserved server name is 400 bad_name at create", async () => {
    for (const name of [...badNames, ...reserved]) {
      const reply = await fixture().asOwner({
        method: "POST",
        path: "/api/v1/servers",
        json: { name, subdomain: "fine" },
      });
      assertRefused(reply, { status: 400, code: "bad_name", says: rule }, JSON.stringify(name));
    }
  });
  test("a malformed or reserved subdomain is 400 bad_subdomain at create", async () => {
    for (const subdomain of [...badNames, ...reserved]) {
      const reply = await fixture().asOwner({
        method: "POST",
        path: "/api/v1/servers",
        json: { name: "fine", subdomain },
      });
      assertRefused(reply, { status: 400, code: "bad_subdomain", says: rule }, JSON.stringify(subdomain));
    }
  });
  test("an overlong name or subdomain is 400, and the message names it", async () => {
    const long = "a".repeat(100_000);
    for (const [field, json] of Object.entries({
      name: { name: long, subdomain: "fine" },
      subdomain: { name: "fine", subdomain: long },
    })) {
      const reply = await fixture().asOwner({ method: "POST", path: "/api/v1/servers", json });
      assertRefused(reply, { status: 400, code: "bad_request", says: new RegExp(`"${field}"`) });
    }
  });
  test("no refused request has left a server behind", async () => {
    const reply = await fixture().asOwner({ path: "/api/v1/fleet" });
    const { servers } = JSON.parse(reply.text) as { servers: { name: string }[] };
    assert.deepEqual(
      servers.map(({ name }) => name),
      [serverName],
    );
  });
  checkSegments(fixture);
  checkPaths(fixture);
  checkMethods(fixture);
}

function checkSegments(fixture: () => StackFixture): void {
  test("a malformed server name in a path is 400 bad_name on both faces", async () => {
    for (const segment of badSegments) {
      const json = { mc_uuid: player };
      const internal = `/api/v1/internal/servers/${segment}`;
      const external = `/api/v1/servers/${segment}`;
      const replies = [
        await fixture().asProxy({ path: `${internal}/status` }),
        await fixture().asProxy({ method: "POST", path: `${internal}/wake`, json }),
        await fixture().asProxy({ method: "POST", path: `${internal}/join-event`, json }),
        await fixture().asProxy({ method: "POST", path: `${internal}/ready` }),
        await fixture().asOwner({ path: `${external}/status` }),
        await fixture().asOwner({ method: "POST", path: `${external}/wake` }),
        await fixture().asOwner({ method: "PATCH", path: external, json: { displayName: "x" } }),
      ];
      for (const reply of replies)
        assertRefused(reply, { status: 400, code: "bad_name", says: rule }, segment);
    }
  });
  test("the external face does not know the reserved names", async () => {
    for (const name of ["login", "lobby", "api"]) {
      const reply = await fixture().asOwner({ path: `/api/v1/servers/${name}/status` });
      assertRefused(reply, { status: 400, code: "bad_name", says: rule }, name);
    }
  });
  test("an unknown server is 404, and the message names it", async () => {
    const wanted = { status: 404, code: "not_found", says: /nowhere/ };
    assertRefused(await fixture().asProxy({ path: "/api/v1/internal/servers/nowhere/status" }), wanted);
    assertRefused(await fixture().asOwner({ path: "/api/v1/servers/nowhere/status" }), wanted);
  });
}

function checkPaths(fixture: () => StackFixture): void {
  const notFound = { status: 404, code: "not_found", says: /./ };
  test("an unknown path is 404, also when it differs only in a slash", async () => {
    const paths = [
      "/",
      "/api/v1/me/",
      "//api/v1/me",
      "/api/v1//me",
      "/API/V1/ME",
      "/api/v1/me/..",
      "/api/v1/auth/../me",
      "/api/v1/auth/%2e%2e/me",
      "/readyz",
      "/metrics",
      "/api/v1/internal/servers/survival/status",
    ];
    // The panel's hosts answer paths outside of /api with the panel's document.
    const elsewhere = { host: "elsewhere.test" };
    for (const path of paths) {
      const headers = path.startsWith("/api/") ? {} : elsewhere;
      assertRefused(await fixture().asOwner({ path, headers }), notFound, path);
    }
    for (const path of ["/readyz/", "/api/v1/me", "/api/v1/fleet"]) {
      assertRefused(await fixture().asProxy({ path }), notFound, path);
    }
  });
  test("a malformed percent escape is 400", async () => {
    for (const segment of ["%zz", "%", "%e0%a4%a"]) {
      const reply = await fixture().asProxy({ path: `/api/v1/internal/servers/${segment}/status` });
      assertRefused(reply, { status: 400, code: "bad_request", says: /percent escape/ }, segment);
    }
  });
  test("raw bytes beyond ASCII in the path are 400", async () => {
    const bytes = Buffer.from("GET /\xff\xfe HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "latin1");
    const reply = parseResponse(await sendBytes(fixture().port("external"), bytes));
    assertRefused(reply, { status: 400, code: "bad_request", says: /not valid HTTP/ });
  });
  test("an unknown query parameter is 400, and the message names it", async () => {
    const reply = await fixture().asProxy({ path: "/api/v1/servers?admin=1" });
    assertRefused(reply, { status: 400, code: "bad_request", says: /query parameter "admin"/ });
  });
}

function checkMethods(fixture: () => StackFixture): void {
  test("another method is 405 with the served methods in Allow", async () => {
    const cases: [method: string, path: string, allow: string][] = [
      ["DELETE", "/api/v1/me", "GET, HEAD"],
      ["GET", "/api/v1/servers", "POST"],
      ["PUT", "/api/v1/auth/setup/redeem", "POST"],
      ["OPTIONS", "/healthz", "GET, HEAD"],
      ["TRACE", "/healthz", "GET, HEAD"],
      ["GET", "/api/v1/servers/survival", "PATCH"],
    ];
    for (const [method, path, allow] of cases) {
      const reply = await fixture().asOwner({ method, path });
      const about = `${method} ${path}`;
      assertRefused(reply, { status: 405, code: "method_not_allowed", says: /Allow/ }, about);
      assert.deepEqual(
        allow.split(", ").filter((one) => !String(reply.headers["allow"]).split(", ").includes(one)),
        [],
        `${about}: ${String(reply.headers["allow"])}`,
      );
    }
  });
  test("HEAD has the status and headers of GET and no body", async () => {
    const get = await sendRequest(fixture().port("internal"), { path: "/healthz" });
    const head = await sendRequest(fixture().port("internal"), { method: "HEAD", path: "/healthz" });
    assert.deepEqual([head.status, head.text], [200, ""]);
    assert.equal(head.headers["content-length"], get.headers["content-length"]);
    const refused = await fixture().withCookie(undefined, { method: "HEAD", path: "/api/v1/me" });
    assert.deepEqual([refused.status, refused.text], [401, ""]);
  });
}
