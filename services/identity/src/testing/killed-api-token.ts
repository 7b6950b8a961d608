// A process that creates an API token and is killed at a named point: `node killed-api-token.ts <url> <kill point> <principal>`.

import type { Context } from "@svc/mesh";
import { type apiTokens, Fault, type Principal } from "@svc/proto";
import { createCreateToken } from "../api-token/own.ts";
import { settings } from "../config.ts";
import { die, dieBeforeCommit, type KillPoint, openKilledProcess } from "./killed-process.ts";

const [url = "", killPoint, principal = "{}"] = process.argv.slice(2) as [string, KillPoint, string];
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
  requestId: "killed-api-token",
  principal: JSON.parse(principal) as Principal,
  client: { address: "192.0.2.7", userAgent: "svc" },
  reply: {},
  fault: (name: Fault["fault"]) => new Fault(name),
} as unknown as Context<typeof apiTokens.create>;
await createCreateToken(deps)(context, { name: "killed", rights: ["see"], expires_in_days: 1 });
die();
