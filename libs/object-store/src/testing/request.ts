import type { IncomingHttpHeaders } from "node:http";
import type { Bucket } from "./bucket.ts";
import type { Faults, Operation } from "./fault.ts";
import { Refusal } from "./refusal.ts";

/** A request whose signature is right. */
export type S3Request = {
  operation: Operation;
  bucket: Bucket;
  bucketName: string;
  key: string;
  query: ReadonlyMap<string, string>;
  headers: IncomingHttpHeaders;
  body: Buffer;
  faults: Faults;
  /** Whether conditions on puts are kept, ignored, or refused with 501. */
  conditionalPut: "kept" | "ignored" | "refused";
  /** Smallest part but the last. */
  minPartBytes: number;
};

export type S3Answer = { status: number; headers?: Record<string, string>; body?: Buffer };

/** The operation of a request, and the parameters that it may have. */
const routes: readonly [method: string, onKey: boolean, parameter: string, Operation, allowed: string][] = [
  [
    "GET",
    false,
    "list-type",
    "list",
    "list-type prefix max-keys continuation-token start-after delimiter encoding-type",
  ],
  [
    "GET",
    false,
    "versions",
    "list-versions",
    "versions prefix max-keys key-marker version-id-marker encoding-type",
  ],
  [
    "GET",
    false,
    "uploads",
    "list-uploads",
    "uploads prefix max-uploads key-marker upload-id-marker encoding-type",
  ],
  ["GET", false, "versioning", "bucket", "versioning"],
  ["GET", false, "object-lock", "bucket", "object-lock"],
  ["HEAD", false, "", "bucket", ""],
  ["PUT", true, "uploadId", "upload-part", "uploadId partNumber"],
  ["GET", true, "uploadId", "list-parts", "uploadId max-parts part-number-marker"],
  ["DELETE", true, "uploadId", "abort-upload", "uploadId"],
  ["POST", true, "uploads", "create-upload", "uploads"],
  ["POST", true, "uploadId", "complete-upload", "uploadId"],
  ["PUT", true, "", "put", ""],
  ["GET", true, "", "get", "versionId"],
  ["HEAD", true, "", "head", "versionId"],
  ["DELETE", true, "", "delete", "versionId"],
];

/** Throws a `Refusal` for anything that this server does not do. */
export function operationOf(method: string, key: string, query: ReadonlyMap<string, string>): Operation {
  const route = routes.find(
    ([wanted, onKey, parameter]) =>
      wanted === method && onKey === (key !== "") && (parameter === "" || query.has(parameter)),
  );
  const allowed = route?.[4].split(" ");
  // The SDK names the operation in x-id.
  const isKnown = [...query.keys()].every((name) => name === "x-id" || allowed?.includes(name));
  if (!route || !isKnown) throw new Refusal(501, "NotImplemented");
  return route[3];
}

/** A whole number of the query. */
export function numberOf(query: ReadonlyMap<string, string>, name: string, fallback: number): number {
  const text = query.get(name);
  if (text === undefined) return fallback;
  if (!/^\d{1,9}$/.test(text)) throw new Refusal(400, "InvalidArgument", { ArgumentName: name });
  return Number(text);
}
