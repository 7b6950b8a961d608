// A process that accepts an invitation and is killed at a step of it: `node killed-acceptance.ts <url> <secret> <account> <step> <when>`.

import type { members } from "@svc/proto";
import { createServerStore } from "../server/store.ts";
import { createAttemptBudget } from "../sharing/attempt-budget.ts";
import type { SharingDeps } from "../sharing/deps.ts";
import { accept } from "../sharing/offers.ts";
import { createSharingStore } from "../sharing/store.ts";
import { contextOf, openKilledStore } from "./killed-steps.ts";

const [url = "", secret = "", account = ""] = process.argv.slice(2);
const { store, tell } = openKilledStore(url);
const usable = (id: string) => [id, { username: id, mc_uuids: [] }] as const;
const deps = {
  // Which accounts there are; the rest of identity has no part in an acceptance.
  mesh: {
    call: async (_contract: unknown, { user_ids }: { user_ids: string[] }) => ({
      accounts: Object.fromEntries(user_ids.map(usable)),
    }),
  },
  store: createServerStore(store),
  sharing: createSharingStore(store),
  attempts: createAttemptBudget(store, 1_000),
  settings: { members_per_server: 50 },
} as unknown as SharingDeps;
const context = contextOf<typeof members.accept>("killed-acceptance", account);
await tell(async () => accept(deps)(context, { secret }));
