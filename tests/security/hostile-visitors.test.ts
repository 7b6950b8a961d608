// Whoever is not who he says he is, before the real doors: planted cookies, foreign hosts and pages, forged addresses,
// letters that look like others, lines that want to be two (interface.md 4.1, 5.2).

import assert from "node:assert/strict";
import { after, before, describe } from "node:test";
import { checkAddresses } from "./addresses.ts";
import { checkEveryInput } from "./every-input.ts";
import { checkFixation } from "./fixation.ts";
import { checkForeignHosts } from "./foreign-hosts.ts";
import { checkForeignPages } from "./foreign-pages.ts";
import { type Doors, openDoors } from "./gateway-fixture.ts";
import { checkInjection } from "./injection.ts";
import { checkLookalikes } from "./lookalikes.ts";

let opened: Doors | undefined;
const doors = (): Doors => {
  assert.ok(opened, "the doors did not open");
  return opened;
};
before(async () => {
  opened = await openDoors();
});
after(() => opened?.close());

describe("a planted cookie", () => checkFixation(doors));
describe("a session on the host of the other console", () => checkForeignHosts(doors));
describe("a page of another site", () => checkForeignPages(doors));
describe("a forged client address", () => checkAddresses(doors));
describe("letters that look like others", () => checkLookalikes(doors));
describe("headers that want to be more than one", () => checkInjection(doors));
describe("bad input at each operation of identity", () => checkEveryInput(doors));
