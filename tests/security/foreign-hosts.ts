// A session where it does not belong: staff on the panel, a player on the operator console, at every operation.

import assert from "node:assert/strict";
import { test } from "node:test";
import { type Operation, operations } from "@svc/proto";
import { adminHost, type GatewayFixture, panelHost } from "./gateway-fixture.ts";
import { assertRefused, type RawRequest, type RawResponse } from "./raw-request.ts";

const forbidden = { status: 403, code: "forbidden", says: /not allowed/ };
const external = operations.filter(({ http }) => http.faces.includes("external"));

/** Any well-formed question of an operation; who asks is judged before what is asked. */
export function questionOf({ http }: Operation): RawRequest {
  const path = http.path.replaceAll(/\{[^}]+\}/g, "anything");
  if (http.method === "GET") return { path };
  return { method: http.method, path, headers: { "content-type": "application/json" }, text: "{}" };
}

export function checkForeignHosts(gateways: () => GatewayFixture): void {
  const at = (operation: Operation, about: { host: string; cookie: string }): Promise<RawResponse> => {
    const { headers, ...rest } = questionOf(operation);
    return gateways().visit({
      ...rest,
      cookie: `svc_session=${about.cookie}`,
      headers: { ...headers, host: about.host },
    });
  };

  for (const role of ["owner", "admin", "user"] as const) {
    test(`a session of role ${role} on the panel is 403 at every staff operation`, async () => {
      const { cookie } = await gateways().identity.person({
        role,
        email: `${role}-panel@example.org`,
        emailVerified: true,
      });
      const ofStaff = external.filter(({ http }) => http.tier === "admin" || http.tier === "owner");
      assert.ok(ofStaff.length > 20, `${ofStaff.length} operations`);
      const hosts = [panelHost, `${adminHost}.evil.example`, "127.0.0.1"];
      for (const [index, operation] of ofStaff.entries()) {
        const host = hosts[index % hosts.length] ?? panelHost;
        assertRefused(await at(operation, { host, cookie }), forbidden, `${operation.subject} on ${host}`);
      }
    });
  }

  test("a player on the operator console is 403 at every operation but the one that signs out", async () => {
    const { cookie } = await gateways().identity.person();
    const closed = external.filter(({ http }) => !(http.tier === "public" && http.session === "ends"));
    for (const operation of closed) {
      // Bytes are asked for their length before anybody is asked who he is.
      if (operation.http.kind === "upload") continue;
      // Input that is wrong whoever sends it is refused first.
      if (operation.http.tier === "public" && operation.body) continue;
      assertRefused(await at(operation, { host: adminHost, cookie }), forbidden, operation.subject);
    }
    const question = { method: "POST", json: { email: "nobody@example.net" }, headers: { host: adminHost } };
    for (const door of ["options", "email/start", "passkey/login/begin"]) {
      const where = { path: `/api/v1/auth/${door}`, cookie: `svc_session=${cookie}` };
      assertRefused(await gateways().visit({ ...question, ...where }), forbidden, door);
    }
    const logout = external.filter((operation) => !closed.includes(operation));
    assert.deepEqual(
      logout.map(({ subject }) => subject),
      ["identity.session.logout"],
    );
    for (const operation of logout)
      assert.equal((await at(operation, { host: adminHost, cookie })).status, 200);
  });

  test("an admin on the operator console is 403 at every operation of the owner", async () => {
    const { cookie } = await gateways().identity.person({
      role: "admin",
      email: "admin-console@example.org",
      emailVerified: true,
    });
    const ofOwner = external.filter(({ http }) => http.tier === "owner");
    assert.ok(ofOwner.length >= 14, `${ofOwner.length} operations`);
    for (const operation of ofOwner)
      assertRefused(await at(operation, { host: adminHost, cookie }), forbidden, operation.subject);
  });
}
