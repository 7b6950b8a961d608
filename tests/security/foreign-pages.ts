// CSRF: every combination of the headers with which a browser describes the requesting page (docs/reference/http.md#cross-site).

import assert from "node:assert/strict";
import { test } from "node:test";
import { adminHost, type GatewayFixture, panelHost } from "./gateway-fixture.ts";
import { assertRefused, sendRequest } from "./raw-request.ts";

const crossSite = { status: 403, code: "cross_site", says: /own pages/ };

const sites: [site: string | undefined, isOwn: boolean][] = [
  [undefined, true],
  ["same-origin", true],
  ["none", true],
  ["same-site", false],
  ["cross-site", false],
];

const origins: [origin: string | undefined, isOwn: boolean][] = [
  [undefined, true],
  [`https://${panelHost}`, true],
  [`http://${panelHost}`, true],
  [`https://${panelHost.toUpperCase()}`, true],
  [`https://${panelHost}:443`, true],
  [`https://${panelHost}:8443`, false],
  [`https://${adminHost}`, false],
  ["https://svc.localhost", false],
  [`https://evil.${panelHost}`, false],
  [`https://${panelHost}.evil.example`, false],
  [`https://${panelHost}@evil.example`, false],
  [`https://evil.example/${panelHost}`, false],
  [`https://evil.example#${panelHost}`, false],
  [`https://${panelHost} https://evil.example`, false],
  [`ftp://${panelHost}`, false],
  [panelHost, false],
  ["https://c\u043ensole.svc.localhost", false],
  ["file://", false],
  ["null", false],
  ["", false],
];

const changes: [method: string, path: string][] = [
  ["POST", "/api/v1/account/sessions/revoke-others"],
  ["POST", "/api/v1/account/email/start"],
  ["PUT", "/api/v1/settings"],
  ["PATCH", "/api/v1/users/anybody"],
  ["DELETE", `/api/v1/account/sessions/${"0".repeat(64)}`],
];

export function checkForeignPages(gateways: () => GatewayFixture): void {
  test("of all combinations of Sec-Fetch-Site and Origin, only those of this host's own pages are accepted", async () => {
    const { cookie } = await gateways().identity.person();
    for (const [site, isOwnSite] of sites) {
      for (const [origin, isOwnOrigin] of origins) {
        const about = `Sec-Fetch-Site ${site}, Origin ${origin}`;
        const headers = {
          ...(site !== undefined && { "sec-fetch-site": site }),
          ...(origin !== undefined && { origin: Buffer.from(origin).toString("latin1") }),
        };
        for (const [method, path] of changes) {
          const reply = await gateways().visit({
            ...{ method, path, headers, json: {} },
            cookie: `svc_session=${cookie}`,
          });
          if (!isOwnSite || !isOwnOrigin) assertRefused(reply, crossSite, `${method} ${about}`);
          else assert.doesNotMatch(reply.text, /"cross_site"/, `${method} ${about}`);
        }
      }
    }
    assert.equal(
      (await gateways().visit({ path: "/api/v1/me", cookie: `svc_session=${cookie}` })).status,
      200,
    );
  });

  test("another site's page cannot sign a visitor in", async () => {
    for (const path of ["bind", "email/verify", "password", "setup/redeem", "logout"]) {
      const headers = { origin: "https://evil.example" };
      const reply = await gateways().visit({
        method: "POST",
        path: `/api/v1/auth/${path}`,
        headers,
        json: {},
      });
      assertRefused(reply, crossSite, path);
    }
  });

  test("a forged Host does not help: the page's Origin differs", async () => {
    for (const host of ["evil.example", `${panelHost}.evil.example`]) {
      const headers = { host, origin: `https://${panelHost}` };
      const question = { method: "POST", path: "/api/v1/auth/logout", headers, json: {} };
      assertRefused(await sendRequest(gateways().port("bare"), question), crossSite, host);
    }
  });
}
