import { accountMigrations } from "@svc/proto";
import { Counter } from "@svc/telemetry";
import type { Serving } from "../service-deps.ts";
import { createStartCode, createVerifyCode } from "./confirm-code.ts";
import { createBeginPasskey, createFinishPasskey } from "./confirm-passkey.ts";
import type { HandOver } from "./hand-over.ts";
import { createIssueCode, createRead } from "./issue-code.ts";
import { createRedeem } from "./redeem.ts";
import { startCarryingOn } from "./resume.ts";
import { createStart } from "./start.ts";

/** Returns the loop that carries abandoned redemptions on. */
export function serveAccountMigrations(serving: Serving): { close: () => Promise<void> } {
  const { mesh } = serving;
  const results = new Counter({
    name: "svc_account_migrations_total",
    help: "Redemptions of account migrations by what became of them.",
    labelNames: ["result"],
    registers: [serving.registry],
  });
  const handing: HandOver = { ...serving, count: (result) => results.inc({ result }) };
  mesh.serve(accountMigrations.start, createStart(serving));
  mesh.serve(accountMigrations.read, createRead(serving));
  mesh.serve(accountMigrations.startCode, createStartCode(serving));
  mesh.serve(accountMigrations.verifyCode, createVerifyCode(serving));
  mesh.serve(accountMigrations.beginPasskey, createBeginPasskey(serving));
  mesh.serve(accountMigrations.finishPasskey, createFinishPasskey(serving));
  mesh.serve(accountMigrations.issueCode, createIssueCode(serving));
  mesh.serve(accountMigrations.redeem, createRedeem(handing));
  return startCarryingOn(handing);
}
