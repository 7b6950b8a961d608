// Settings of the internal gateway (docs/reference/settings.md) and what only its environment tells.

import { gatewaySection, type ListenAddress, parseListen } from "@svc/http-gateway";
import { type CallerToken, callerTokens } from "@svc/proto";
import { z } from "zod";

/** Environment variable of each caller's token, for installations without a folder of token files. */
const tokenVariables: Record<CallerToken, string> = {
  velocity: "SVC_SERVICE_TOKEN",
  limbo: "SVC_LIMBO_TOKEN",
  build: "SVC_BUILD_TOKEN",
  ops: "SVC_OPS_TOKEN",
  sftp: "SVC_SFTP_TOKEN",
};

export const settings = z.strictObject({ gateway: gatewaySection });

/** SVC_LISTEN wins over the file. */
export function listenAddress(fromFile: string): ListenAddress {
  return parseListen(process.env["SVC_LISTEN"] ?? fromFile);
}

/** Files in SVC_TOKENS_DIR named after their callers, else one variable for each caller. */
export function tokenSource(): { values: Partial<Record<CallerToken, string>>; dir?: string } {
  const given = callerTokens.map((caller) => [caller, process.env[tokenVariables[caller]] ?? ""]);
  const values: Partial<Record<CallerToken, string>> = Object.fromEntries(given);
  const dir = process.env["SVC_TOKENS_DIR"];
  return dir === undefined || dir === "" ? { values } : { values, dir };
}
