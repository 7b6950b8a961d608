// Answers of one operation: its success and every fault that a caller can meet, grouped by status.

import { z } from "zod";
import type { Operation } from "../catalog.ts";
import type { HttpBinding, UploadRule } from "../contract.ts";
import { type FaultName, faults } from "../fault.ts";
import type { Components, Json } from "./components.ts";

const reference = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });

/** Faults that the gateway and the mesh may answer by themselves (docs/reference/http.md#errors). */
function faultsOf(contract: Operation): FaultName[] {
  const { http } = contract;
  const names: FaultName[] = [...contract.faults, "internal", "unavailable", "bad_request"];
  if (http.method !== "GET") names.push("cross_site");
  if (http.tier === "service") names.push("unauthorized", "forbidden", "wrong_caller");
  if (http.tier === "app" || http.tier === "admin" || http.tier === "owner") {
    names.push("unauthorized", "forbidden", "auth_unavailable");
    if (!http.setup) names.push("setup_required");
    names.push(...(http.rights ? faultsOfTokens : (["token_not_accepted"] as const)));
  }
  if (contract.body || http.rateLimited) names.push("too_large", "unsupported_media_type");
  if (http.rateLimited) names.push("rate_limited", "auth_unavailable");
  if (http.addressBudget) names.push("rate_limited");
  if (http.kind === "events") names.push("too_many_streams");
  if (http.kind === "upload") names.push(...faultsOfUpload(http.upload ?? {}));
  return [...new Set(names)];
}

const faultsOfTokens = [
  "token_invalid",
  "token_expired",
  "token_revoked",
  "token_not_accepted",
  "token_scope",
  "token_rate_limited",
] as const;

function faultsOfUpload({
  lengthRequired = true,
  tooLarge = "too_large",
  contentTypes,
}: UploadRule): FaultName[] {
  return [
    tooLarge,
    ...(lengthRequired ? (["length_required"] as const) : []),
    ...(contentTypes ? (["unsupported_media_type"] as const) : []),
  ];
}

export function responsesOf(contract: Operation, components: Components): Json {
  const byStatus = new Map<number, Set<string>>();
  for (const name of faultsOf(contract)) {
    const { status, code } = faults[name];
    byStatus.set(status, (byStatus.get(status) ?? new Set()).add(code));
  }
  const refusals = [...byStatus].map(([status, codes]) => [
    String(status),
    refusal(contract.http, status, [...codes].sort()),
  ]);
  return Object.fromEntries([
    [String(contract.http.status), success(contract, components)],
    ...(contract.http.view || contract.http.image
      ? [["304", { description: "Not changed since the ETag in If-None-Match." }]]
      : []),
    ...(contract.http.nullAs ? [[String(contract.http.nullAs), { description: "Nothing; no body." }]] : []),
    ...refusals,
  ]);
}

function refusal({ errors }: HttpBinding, status: number, codes: string[]): Json {
  const retry =
    status === 429 || status === 503 ? { headers: { "Retry-After": header("Seconds to wait.") } } : {};
  return {
    description: codes.join(", "),
    ...retry,
    "x-codes": codes,
    ...(errors === "empty" && status !== 500
      ? {}
      : { content: { "application/json": { schema: reference("Error") } } }),
  };
}

function success(contract: Operation, components: Components): Json {
  const { http } = contract;
  const description = http.status === 204 ? "Done; no body." : "Success.";
  if (http.status === 204) return { description };
  const headers = headersOf(contract);
  return { description, ...(headers ? { headers } : {}), content: contentOf(contract, components) };
}

function headersOf({ http }: Operation): Json | undefined {
  if (http.view)
    return { ETag: header("Changes with the bytes."), Age: header("Seconds since the data were current.") };
  if (http.image) return { ETag: header("Changes with the bytes.") };
  if (http.session) return { "Set-Cookie": header("The svc_session cookie is set or cleared.") };
  return undefined;
}

function header(description: string): Json {
  return { description, schema: { type: "string" } };
}

function contentOf(contract: Operation, components: Components): Json {
  const { http } = contract;
  if (http.kind === "events") return { "text/event-stream": { schema: { type: "string" } } };
  if (http.kind === "download")
    return { "application/octet-stream": { schema: { type: "string", format: "binary" } } };
  if (http.image) return { [http.image.contentType.split(";", 1)[0] ?? ""]: { schema: { type: "string" } } };
  return { "application/json": { schema: components.schemaOf(outputSchema(contract), "output") } };
}

/** The schema of the answer as HTTP callers see it: a collected list is under its own name and has no cursor. */
function outputSchema({ http, output }: Operation): z.ZodType {
  const schema: unknown = output;
  if (http.collect === undefined || !(schema instanceof z.ZodObject)) return output;
  const { items, next: _, ...more } = schema.shape as z.ZodRawShape;
  return z.strictObject({ ...(items && { [http.collect]: items }), ...more });
}
