// A process that approves or finishes a CLI login and is killed at a named point:
// `node killed-cli-login.ts <url> <step> <kill point> <input as JSON>`.

import type { Context } from "@svc/mesh";
import { type cliLogins, Fault, type Principal } from "@svc/proto";
import { createDecide } from "../cli-login/decide.ts";
import { createFinish } from "../cli-login/finish.ts";
import { settings } from "../config.ts";
import type { Deps } from "../deps.ts";
import { die, dieBeforeCommit, type KillPoint, openKilledProcess } from "./killed-process.ts";

export type KilledStep = { step: "decide" | "finish"; principal: Principal; code: string; secret: string };

const [url = "", killPoint, input = "{}"] = process.argv.slice(2) as [string, KillPoint, string];
const { step, principal, code, secret } = JSON.parse(input) as KilledStep;
const { store, events } = openKilledProcess(url);
const deps: Deps = {
  db: store.db,
  limits: settings.parse({}).identity,
  now: () => new Date(),
  events,
  hasRelay: true,
  issuers: [],
};
// The last statement before each commit is the one that adds the audit entry.
if (killPoint === "before the commit") dieBeforeCommit(store);
const context = {
  requestId: "killed-cli-login",
  principal,
  client: { address: "192.0.2.7", userAgent: "svc" },
  reply: {},
  fault: (name: Fault["fault"]) => new Fault(name),
};
if (step === "decide")
  await createDecide(deps)(context as unknown as Context<typeof cliLogins.decide>, {
    code,
    decision: "approve",
  });
else await createFinish(deps)(context as unknown as Context<typeof cliLogins.finish>, { secret });
die();
