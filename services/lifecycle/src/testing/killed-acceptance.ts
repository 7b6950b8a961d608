// A process that accepts an invitation and is killed at a statement of it:
// `node killed-acceptance.ts <url> <secret> <account> <statement> <before|after|answered>`. Statement 0 kills nobody, `answered`
// after the commit, when only the answer is left. It prints the answer, or the fault, and how many statements there were.

import type { Context } from "@svc/mesh";
import { Fault, type FaultOptions, isFault, type members } from "@svc/proto";
import { openStore } from "@svc/store";
import { createLogger } from "@svc/telemetry";
import type { KyselyPlugin } from "kysely";
import type { Tables } from "../database/schema.ts";
import { createServerStore } from "../server/store.ts";
import { createAttemptBudget } from "../sharing/attempt-budget.ts";
import type { SharingDeps } from "../sharing/deps.ts";
import { accept } from "../sharing/offers.ts";
import { createSharingStore } from "../sharing/store.ts";

const [url = "", secret = "", account = "", statement, when] = process.argv.slice(2);
let statements = 0;
const dieAt = (moment: string) => {
  if (statements === Number(statement) && moment === when) process.kill(process.pid, "SIGKILL");
};
const counting: KyselyPlugin = {
  transformQuery: ({ node }) => {
    statements += 1;
    dieAt("before");
    return node;
  },
  transformResult: async ({ result }) => {
    dieAt("after");
    return result;
  },
};

const log = createLogger("lifecycle", "silent");
const opened = openStore<Tables>({ url, schema: "lifecycle", poolSize: 2, log });
const store = { ...opened, db: opened.db.withPlugin(counting) };
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
const context = {
  requestId: "killed-acceptance",
  principal: { kind: "account", user_id: account, username: account, role: "user", staff: false },
  client: { address: "192.0.2.7", userAgent: "browser" },
  fault: (name: Fault["fault"], options?: FaultOptions) => new Fault(name, options),
} as unknown as Context<typeof members.accept>;

const accepting = async () => accept(deps)(context, { secret });
const answer = await accepting().catch((error: unknown) => {
  if (isFault(error)) return { fault: error.fault };
  throw error;
});
if (when === "answered") process.kill(process.pid, "SIGKILL");
process.stdout.write(JSON.stringify({ answer, statements }));
await opened.close();
