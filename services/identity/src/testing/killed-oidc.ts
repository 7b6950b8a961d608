// A process that finishes a sign-in at an OpenID provider, or links or unlinks an identity, and is killed at a named point:
// `node killed-oidc.ts <url> <kill point> <input as JSON>`.

import type { Context } from "@svc/mesh";
import { Fault, type InputOf, type oidc, type Principal } from "@svc/proto";
import { createLogger } from "@svc/telemetry";
import { settings as schema } from "../config.ts";
import type { OidcDeps } from "../oidc/deps.ts";
import { createFinish } from "../oidc/finish.ts";
import { createFinishLink, createUnlink } from "../oidc/link.ts";
import { createProvider } from "../oidc/provider.ts";
import type { OidcProvider } from "../oidc-provider.ts";
import { die, dieBeforeCommit, type KillPoint, openKilledProcess } from "./killed-process.ts";

export type KilledOidc = {
  step: "finish" | "link" | "unlink";
  principal: Principal;
  provider: OidcProvider;
  answer: InputOf<typeof oidc.finish>;
  identity: string;
  origin: string;
};

const [url = "", killPoint, input = "{}"] = process.argv.slice(2) as [
  string,
  KillPoint | "at the provider",
  string,
];
const { step, principal, provider, answer, identity, origin } = JSON.parse(input) as KilledOidc;
const { store, events } = openKilledProcess(url);
const limits = schema.parse({}).identity;
const open = createProvider({ settings: provider, secret: undefined, limits, isLocal: true });
const deps: OidcDeps = {
  db: store.db,
  limits,
  now: () => new Date(),
  events,
  hasRelay: true,
  issuers: [provider.issuer],
  providers: [
    killPoint === "at the provider"
      ? {
          ...open,
          redeem: async (...given) => {
            await open.redeem(...given);
            die();
            return new Promise(() => undefined);
          },
        }
      : open,
  ],
  origins: { player: origin, operator: undefined },
  mailQueue: { add: async () => undefined, wake: () => undefined },
  log: createLogger("identity", "silent"),
};
if (killPoint === "before the commit") dieBeforeCommit(store);
const context = {
  requestId: "killed-oidc",
  principal,
  client: { address: "192.0.2.7", userAgent: "browser" },
  reply: {},
  fault: (name: Fault["fault"]) => new Fault(name),
};
if (step === "finish") await createFinish(deps)(context as unknown as Context<typeof oidc.finish>, answer);
else if (step === "link")
  await createFinishLink(deps)(context as unknown as Context<typeof oidc.finishLink>, answer);
else await createUnlink(deps)(context as unknown as Context<typeof oidc.unlink>, { id: identity });
die();
