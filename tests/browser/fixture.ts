// What the cases of all areas of the panel share: one stack with the server `survival`, its owner at the operator console,
// and a player who owns nothing at the panel.

import type { Stack } from "../flow/stack.ts";
import type { Person } from "./person.ts";

export type Fixture = {
  stack: Stack;
  owner: Person;
  player: Person;
  addressOf: (host: "panel_host" | "admin_host", path: string) => string;
  /** Fails with what axe or the width of a phone finds wrong, and keeps pictures under this name. */
  inspect: (person: Person, name: string) => Promise<void>;
};

/** Adds the tests of an area; the fixture exists once they run. */
export type Area = (fixture: () => Fixture) => void;
