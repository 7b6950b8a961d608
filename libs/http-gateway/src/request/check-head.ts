// Checks of the request head, before authentication (docs/reference/http.md#shared).

import type { IncomingMessage } from "node:http";
import { Fault, type FaultName, type HttpBinding, type Operation, type ProcessOperation } from "@svc/proto";
import { isCrossSite } from "../access/cross-site.ts";
import { hasBody, isJson, mediaTypeOf, tooLarge } from "./body.ts";

/** The fault of the first failed check of the head; undefined when all pass. */
export function checkHead(
  contract: Operation | ProcessOperation,
  request: IncomingMessage,
  about: { host: string; jsonBodyBytes: number; uploadBytes: number },
): Fault | undefined {
  const { headers, method = "" } = request;
  if (isCrossSite(method, headers, about.host)) return new Fault("cross_site");
  if (contract.type === "process") return undefined;
  if (contract.http.kind === "upload") return refusalOfUpload(contract.http, request, about.uploadBytes);
  if (contract.http.refusesBody && hasBody(request)) {
    return new Fault("bad_request", { message: "The request is not valid: it takes no body." });
  }
  return refusalOfBody(contract, request, about.jsonBodyBytes);
}

function refusalOfBody(contract: Operation, request: IncomingMessage, limit: number): Fault | undefined {
  const { headers } = request;
  if (Number(headers["content-length"] ?? 0) > limit)
    return new Fault("too_large", { message: tooLarge(limit) });
  // Sign-in operations require the type even without a body: a form of another site can't send it (docs/reference/sign-in.md#doors).
  const isDoor = contract.http.rateLimited && contract.http.method !== "GET";
  const needsJson = isDoor || (contract.body !== undefined && hasBody(request));
  if (needsJson && !isJson(headers["content-type"])) return new Fault("unsupported_media_type");
  return undefined;
}

function refusalOfUpload(http: HttpBinding, request: IncomingMessage, ceiling: number): Fault | undefined {
  const { lengthRequired = true, contentTypes } = http.upload ?? {};
  const { "content-length": length, "content-type": type } = request.headers;
  if (length === undefined && lengthRequired) return new Fault("length_required");
  const { fault, bytes } = largestUpload(http, ceiling);
  if (Number(length ?? 0) > bytes) return new Fault(fault, { message: tooLarge(bytes) });
  if (contentTypes && type !== undefined && !contentTypes.includes(mediaTypeOf(type))) {
    return new Fault("unsupported_media_type", { message: `The body must be ${contentTypes.join(" or ")}.` });
  }
  return undefined;
}

export type LargestUpload = { bytes: number; fault: FaultName };

/** Maximum size of an upload, and the fault above it. */
export function largestUpload(http: HttpBinding, ceiling: number): LargestUpload {
  return { bytes: http.upload?.maxBytes ?? ceiling, fault: http.upload?.tooLarge ?? "too_large" };
}
