import type { Version } from "./bucket.ts";
import { Refusal } from "./refusal.ts";
import type { S3Answer, S3Request } from "./request.ts";
import { xml } from "./xml.ts";

export function putObject(request: S3Request): S3Answer {
  const { bucket, key, body, faults } = request;
  checkCondition(request);
  if (faults.take("lose-object", request)) return { status: 200, headers: { etag: '"0"' } };
  const bytes = faults.take("store-other-bytes", request) ? corrupt(body) : body;
  const version = bucket.put(key, bytes, { metadata: metadataOf(request) });
  return { status: 200, headers: { etag: version.etag, ...versionHeader(request, version) } };
}

export function metadataOf({ headers }: S3Request): Record<string, string> {
  const start = "x-amz-meta-";
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      name.startsWith(start) ? [[name.slice(start.length), String(value)]] : [],
    ),
  );
}

function checkCondition({ bucket, key, headers, conditionalPut }: S3Request): void {
  const { "if-none-match": absent, "if-match": same } = headers;
  if ((absent === undefined && same === undefined) || conditionalPut === "ignored") return;
  if (conditionalPut === "refused") throw new Refusal(501, "NotImplemented");
  const current = bucket.find(key);
  if (absent !== undefined && absent !== "*") throw new Refusal(501, "NotImplemented");
  if (absent !== undefined && current) throw new Refusal(412, "PreconditionFailed");
  if (same !== undefined && !current) throw new Refusal(404, "NoSuchKey");
  if (same !== undefined && same !== current?.etag) throw new Refusal(412, "PreconditionFailed");
}

export const versionHeader = ({ bucket }: S3Request, { versionId }: Version): Record<string, string> =>
  bucket.options.versioning === "off" ? {} : { "x-amz-version-id": versionId };

function findObject(request: S3Request): Version & { bytes: Buffer } {
  const { bucket, key, query } = request;
  const version = bucket.find(key, query.get("versionId"));
  if (!version) throw new Refusal(404, query.has("versionId") ? "NoSuchVersion" : "NoSuchKey");
  if (!version.bytes) throw new Refusal(405, "MethodNotAllowed");
  const match = request.headers["if-match"];
  if (match !== undefined && match !== version.etag) throw new Refusal(412, "PreconditionFailed");
  return { ...version, bytes: version.bytes };
}

function objectHeaders(request: S3Request, version: Version): Record<string, string> {
  const metadata = Object.entries(version.metadata).map(([name, value]) => [`x-amz-meta-${name}`, value]);
  return {
    etag: version.etag,
    "last-modified": version.modifiedAt.toUTCString(),
    "accept-ranges": "bytes",
    "content-type": "application/octet-stream",
    ...Object.fromEntries(metadata),
    ...versionHeader(request, version),
  };
}

export function headObject(request: S3Request): S3Answer {
  const version = findObject(request);
  const by = request.faults.take("wrong-size", request)?.by ?? 0;
  const length = String(version.bytes.length + by);
  return { status: 200, headers: { ...objectHeaders(request, version), "content-length": length } };
}

export function getObject(request: S3Request): S3Answer {
  const version = findObject(request);
  const headers = objectHeaders(request, version);
  const bytes = request.faults.take("corrupt", request) ? corrupt(version.bytes) : version.bytes;
  const { range } = request.headers;
  if (range === undefined) return { status: 200, headers, body: bytes };
  const [, from = "", to = ""] = /^bytes=(\d+)-(\d*)$/.exec(range) ?? [];
  if (from === "") throw new Refusal(501, "NotImplemented");
  const end = Math.min(to === "" ? bytes.length - 1 : Number(to), bytes.length - 1);
  if (Number(from) > end) throw new Refusal(416, "InvalidRange");
  return {
    status: 206,
    headers: { ...headers, "content-range": `bytes ${Number(from)}-${end}/${bytes.length}` },
    body: bytes.subarray(Number(from), end + 1),
  };
}

function corrupt(bytes: Buffer): Buffer {
  const changed = Buffer.from(bytes);
  const middle = changed.length >> 1;
  if (changed.length > 0) changed[middle] = (changed[middle] ?? 0) ^ 0x55;
  return changed;
}

export function deleteObject(request: S3Request): S3Answer {
  const { bucket, key, query } = request;
  const gone = bucket.delete(key, query.get("versionId"));
  const isMarker = gone !== undefined && gone.bytes === undefined;
  return {
    status: 204,
    headers: {
      ...(gone && versionHeader(request, gone)),
      ...(isMarker && { "x-amz-delete-marker": "true" }),
    },
  };
}

export function describeBucket({ bucket, query }: S3Request): S3Answer {
  const { versioning, objectLock } = bucket.options;
  if (query.has("versioning")) {
    const Status = { off: undefined, enabled: "Enabled", suspended: "Suspended" }[versioning];
    return { status: 200, body: xml("VersioningConfiguration", { Status }) };
  }
  if (!query.has("object-lock")) return { status: 200 };
  if (!objectLock) throw new Refusal(404, "ObjectLockConfigurationNotFoundError");
  const DefaultRetention = { Mode: objectLock.mode, Days: objectLock.days };
  return {
    status: 200,
    body: xml("ObjectLockConfiguration", { ObjectLockEnabled: "Enabled", Rule: { DefaultRetention } }),
  };
}
