// A process that approves or finishes a CLI login and is killed at a named point:
// `node killed-cli-login.ts <url> <step> <kill point> <input as JSON>`.

import type { cliLogins, Principal } from "@svc/proto";
import { createDecide } from "../cli-login/decide.ts";
import { createFinish } from "../cli-login/finish.ts";
import { die, killedContext, killedDeps } from "./killed-process.ts";

export type KilledStep = { step: "decide" | "finish"; principal: Principal; code: string; secret: string };

const [url = "", killPoint, input = "{}"] = process.argv.slice(2);
const { step, principal, code, secret } = JSON.parse(input) as KilledStep;
// The last statement before each commit is the one that adds the audit entry.
const deps = killedDeps(url, killPoint);
const [id, who] = ["killed-cli-login", JSON.stringify(principal)];
if (step === "decide")
  await createDecide(deps)(killedContext<typeof cliLogins.decide>(id, who), { code, decision: "approve" });
else await createFinish(deps)(killedContext<typeof cliLogins.finish>(id, who), { secret });
die();
