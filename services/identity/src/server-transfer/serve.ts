import { accountMigrations } from "@svc/proto";
import { Counter } from "@svc/telemetry";
import { passkeyDeps } from "../passkey/serve.ts";
import type { ServiceDeps } from "../service-deps.ts";
import type { RedemptionDeps } from "./act.ts";
import { createStartCode, createVerifyCode } from "./confirm-code.ts";
import { createBeginPasskey, createFinishPasskey } from "./confirm-passkey.ts";
import { createIssueCode, createRead } from "./issue-code.ts";
import { createRedeem } from "./redeem.ts";
import { startTransferLoop } from "./resume.ts";
import { createStart } from "./start.ts";

/** Returns the loop that resumes abandoned redemptions. */
export function serveServerTransfers(deps: ServiceDeps): { close: () => Promise<void> } {
  const { mesh } = deps;
  const results = new Counter({
    name: "svc_account_migrations_total",
    help: "Redeemed codes of server transfers by outcome: redeemed, refused, interrupted.",
    labelNames: ["result"],
    registers: [deps.registry],
  });
  const redemption: RedemptionDeps = { ...deps, count: (result) => results.inc({ result }) };
  mesh.serve(accountMigrations.start, createStart(deps));
  mesh.serve(accountMigrations.read, createRead(deps));
  mesh.serve(accountMigrations.startCode, createStartCode(deps));
  mesh.serve(accountMigrations.verifyCode, createVerifyCode(deps));
  mesh.serve(accountMigrations.beginPasskey, createBeginPasskey(passkeyDeps(deps)));
  mesh.serve(accountMigrations.finishPasskey, createFinishPasskey(passkeyDeps(deps)));
  mesh.serve(accountMigrations.issueCode, createIssueCode(deps));
  mesh.serve(accountMigrations.redeem, createRedeem(redemption));
  return startTransferLoop(redemption);
}
