// Impersonation against the real sign-in operations: planted cookies, foreign hosts and pages, forged addresses,
// look-alike letters, lines that want to be two (docs/reference/http.md#shared, docs/reference/http.md#tiers).

import assert from "node:assert/strict";
import { after, before, describe } from "node:test";
import { checkAddresses } from "./addresses.ts";
import { checkEveryInput } from "./every-input.ts";
import { checkFixation } from "./fixation.ts";
import { checkForeignHosts } from "./foreign-hosts.ts";
import { checkForeignPages } from "./foreign-pages.ts";
import { type GatewayFixture, startGatewayFixture } from "./gateway-fixture.ts";
import { checkInjection } from "./injection.ts";
import { checkLookalikes } from "./lookalikes.ts";

let opened: GatewayFixture | undefined;
const gateways = (): GatewayFixture => {
  assert.ok(opened, "the gateways did not open");
  return opened;
};
before(async () => {
  opened = await startGatewayFixture();
});
after(() => opened?.close());

describe("a planted cookie", () => checkFixation(gateways));
describe("a session on the host of the other console", () => checkForeignHosts(gateways));
describe("a page of another site", () => checkForeignPages(gateways));
describe("a forged client address", () => checkAddresses(gateways));
describe("look-alike letters", () => checkLookalikes(gateways));
describe("header injection", () => checkInjection(gateways));
describe("bad input at each operation of identity", () => checkEveryInput(gateways));
