// A process that removes an SSH key and is killed at a named point: `node killed-ssh-key.ts <url> <kill point> <principal> <id>`.

import type { Context } from "@svc/mesh";
import { Fault, type Principal, type sshKeys } from "@svc/proto";
import { settings } from "../config.ts";
import { createRemoveKey } from "../ssh-key/own.ts";
import { die, dieBeforeCommit, type KillPoint, openKilledProcess } from "./killed-process.ts";

const [url = "", killPoint, principal = "{}", id = ""] = process.argv.slice(2) as [
  string,
  KillPoint,
  string,
  string,
];
const { store, events } = openKilledProcess(url);
if (killPoint === "before the commit") dieBeforeCommit(store);
const deps = {
  db: store.db,
  limits: settings.parse({}).identity,
  now: () => new Date(),
  events,
  hasRelay: true,
  issuers: [],
};
const context = {
  requestId: "killed-ssh-key",
  principal: JSON.parse(principal) as Principal,
  client: { address: "192.0.2.7", userAgent: "svc" },
  reply: {},
  fault: (name: Fault["fault"]) => new Fault(name),
} as unknown as Context<typeof sshKeys.remove>;
await createRemoveKey(deps)(context, { id });
die();
