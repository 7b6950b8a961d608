// What every request must satisfy before anybody looks at its credential (interface.md 4.1).

import type { IncomingMessage } from "node:http";
import { Fault, type Operation, type ProcessOperation } from "@svc/proto";
import { isCrossSite } from "../access/cross-site.ts";
import { hasBody, isJson, tooLarge } from "./body.ts";

/** Refusal by the head of a request alone, first answer wins; undefined = it may go on. */
export function refusalByHead(
  contract: Operation | ProcessOperation,
  request: IncomingMessage,
  about: { host: string; jsonBodyBytes: number },
): Fault | undefined {
  const { headers, method = "" } = request;
  if (isCrossSite(method, headers, about.host)) return new Fault("cross_site");
  if (contract.type === "process" || contract.http.kind === "upload") return undefined;
  return refusalOfBody(contract, request, about.jsonBodyBytes);
}

function refusalOfBody(contract: Operation, request: IncomingMessage, limit: number): Fault | undefined {
  const { headers } = request;
  if (Number(headers["content-length"] ?? 0) > limit)
    return new Fault("too_large", { message: tooLarge(limit) });
  // Sign-in doors demand the type even without a body: a form of another site can't send it (behaviour.md e.1).
  const isDoor = contract.http.rateLimited && contract.http.method !== "GET";
  const needsJson = isDoor || (contract.body !== undefined && hasBody(request));
  if (needsJson && !isJson(headers["content-type"])) return new Fault("unsupported_media_type");
  return undefined;
}
