import { accountMigrations } from "@svc/proto";
import { Counter } from "@svc/telemetry";
import { passkeyDeps } from "../passkey/serve.ts";
import type { ServiceDeps } from "../service-deps.ts";
import { createStartCode, createVerifyCode } from "./confirm-code.ts";
import { createBeginPasskey, createFinishPasskey } from "./confirm-passkey.ts";
import type { HandOver } from "./finish.ts";
import { createIssueCode, createRead } from "./issue-code.ts";
import { createRedeem } from "./redeem.ts";
import { startTransferLoop } from "./resume.ts";
import { createStart } from "./start.ts";

/** Returns the loop that carries abandoned redemptions on. */
export function serveServerTransfers(deps: ServiceDeps): { close: () => Promise<void> } {
  const { mesh } = deps;
  const results = new Counter({
    name: "svc_account_migrations_total",
    help: "Redemptions of account migrations by what became of them.",
    labelNames: ["result"],
    registers: [deps.registry],
  });
  const handing: HandOver = { ...deps, count: (result) => results.inc({ result }) };
  mesh.serve(accountMigrations.start, createStart(deps));
  mesh.serve(accountMigrations.read, createRead(deps));
  mesh.serve(accountMigrations.startCode, createStartCode(deps));
  mesh.serve(accountMigrations.verifyCode, createVerifyCode(deps));
  mesh.serve(accountMigrations.beginPasskey, createBeginPasskey(passkeyDeps(deps)));
  mesh.serve(accountMigrations.finishPasskey, createFinishPasskey(passkeyDeps(deps)));
  mesh.serve(accountMigrations.issueCode, createIssueCode(deps));
  mesh.serve(accountMigrations.redeem, createRedeem(handing));
  return startTransferLoop(handing);
}
