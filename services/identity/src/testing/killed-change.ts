// A process that disables a user and is killed at a named point: `node killed-change.ts <url> <user> <kill point>`.

import type { Context } from "@svc/mesh";
import { Fault, type users } from "@svc/proto";
import type { Deps } from "../deps.ts";
import { createDisableUser } from "../user/change.ts";
import { die, openKilledProcess } from "./killed-process.ts";

const [url = "", id = "", killPoint] = process.argv.slice(2);
const { store, events } = openKilledProcess(url);
const deps = {
  db: store.db,
  now: () => {
    if (killPoint === "before the commit") die();
    return new Date();
  },
  events,
} as Partial<Deps> as Deps;
const context = {
  requestId: "killed-change",
  principal: { kind: "account", user_id: "the-owner", username: "owner", role: "owner" },
  client: { address: "192.0.2.7", userAgent: "browser" },
  fault: (name: Fault["fault"]) => new Fault(name),
} as unknown as Context<typeof users.disable>;
await createDisableUser(deps)(context, { id, disabled: true });
die();
