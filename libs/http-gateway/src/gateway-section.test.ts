import assert from "node:assert/strict";
import { test } from "node:test";
import { gatewaySection, limitsOf } from "./gateway-section.ts";
import { parseListen } from "./listen-address.ts";
import { defaultFaceSettings } from "./settings.ts";

test("an empty [gateway] has the limits of the specification", () => {
  const {
    adminHostname: _host,
    clientIpHeader: _header,
    quietPaths: _paths,
    unchangedLogMs: _everyMs,
    ...limits
  } = defaultFaceSettings;
  assert.deepEqual(limitsOf(gatewaySection.parse(undefined)), limits);
});

test("a limit can be set by its name", () => {
  const section = gatewaySection.parse({ stream_lifetime: "2s", json_body: "2Ki" });
  assert.equal(limitsOf(section).streamLifetimeMs, 2_000);
  assert.equal(limitsOf(section).jsonBodyBytes, 2_048);
});

for (const [text, host, port] of [
  ["127.0.0.1:8080", "127.0.0.1", 8080],
  ["[::1]:0", "::1", 0],
  ["localhost:65535", "localhost", 65_535],
] as const) {
  test(`${text} is a listen address`, () => assert.deepEqual(parseListen(text), { host, port }));
}

for (const text of ["8080", "127.0.0.1", ":8080", "::1:8080", "a:99999", ""]) {
  test(`${JSON.stringify(text)} is not a listen address`, () =>
    assert.throws(() => parseListen(text), /host:port/));
}
