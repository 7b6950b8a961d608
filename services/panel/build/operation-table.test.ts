import assert from "node:assert/strict";
import { test } from "node:test";
import { operations } from "@svc/proto";
import { buildRequest } from "../src/api/request.ts";
import { operationTable, retriedCodes } from "./operation-table.ts";

const table = operationTable();

test("the table has every operation of the external face once", () => {
  const rows = Object.values(table).map(({ method, path }) => `${method} ${path}`);
  const external = operations
    .filter(({ http }) => http.faces.includes("external"))
    .map(({ http }) => `${http.method} ${http.path}`);
  assert.deepEqual(rows.sort(), external.sort());
});

test("each field of an input goes where its contract wants it", () => {
  const row = (name: string) => table[name] ?? assert.fail(name);
  assert.deepEqual(buildRequest(row("servers.wake"), { name: "a b" }), {
    method: "POST",
    path: "/api/v1/servers/a%20b/wake",
    headers: {},
  });
  assert.deepEqual(buildRequest(row("servers.create"), { name: "a", subdomain: "b", image: undefined }), {
    method: "POST",
    path: "/api/v1/servers",
    headers: { "content-type": "application/json" },
    body: '{"name":"a","subdomain":"b"}',
  });
  assert.equal(buildRequest(row("servers.fleet"), {}).path, "/api/v1/fleet");
  assert.deepEqual(buildRequest(row("passkeys.beginDiscoverable"), {}).body, "{}");
});

test("a parameter cannot leave its place in the path", () => {
  const row = table["accounts.revokeSession"] ?? assert.fail();
  assert.equal(buildRequest(row, { hash: "../x?y#z" }).path, "/api/v1/account/sessions/..%2Fx%3Fy%23z");
  for (const hash of ["", ".", ".."]) assert.throws(() => buildRequest(row, { hash }), /hash cannot be/);
});

test("the codes that may pass hold what is busy and what is down, and no refusal", () => {
  const codes = retriedCodes();
  for (const code of ["unavailable", "auth_unavailable", "cooldown", "rate_limited"])
    assert.ok(codes.includes(code), code);
  for (const code of ["forbidden", "not_found", "mail_unavailable"]) assert.ok(!codes.includes(code), code);
});
