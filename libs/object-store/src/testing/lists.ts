import type { Version } from "./bucket.ts";
import { Refusal } from "./refusal.ts";
import { numberOf, type S3Answer, type S3Request } from "./request.ts";
import { type Element, xml } from "./xml.ts";

/** Keys that begin with the prefix and come after another one, in the order of their bytes. */
function keysOf({ bucket, query }: S3Request, after?: string): string[] {
  const prefix = query.get("prefix") ?? "";
  if (query.has("delimiter") || query.has("encoding-type")) throw new Refusal(501, "NotImplemented");
  const afterBytes = after === undefined ? undefined : Buffer.from(after);
  return [...bucket.keys.keys()]
    .filter((key) => key.startsWith(prefix))
    .map((key) => ({ key, bytes: Buffer.from(key) }))
    .filter(({ bytes }) => !afterBytes || Buffer.compare(bytes, afterBytes) > 0)
    .sort((one, two) => Buffer.compare(one.bytes, two.bytes))
    .map(({ key }) => key);
}

const pageSize = (request: S3Request, name: string) => Math.min(1_000, numberOf(request.query, name, 1_000));

function sizeOf(request: S3Request, key: string, { bytes }: Version): number {
  return (
    (bytes?.length ?? 0) + (request.faults.take("wrong-size", { operation: request.operation, key })?.by ?? 0)
  );
}

export function listObjects(request: S3Request): S3Answer {
  const { bucket, bucketName, query, operation, faults } = request;
  const token = query.get("continuation-token");
  const after = token === undefined ? query.get("start-after") : Buffer.from(token, "base64url").toString();
  const found = keysOf(request, after).filter(
    (key) => bucket.find(key) && !faults.take("hide", { operation, key }),
  );
  const page = found.slice(0, pageSize(request, "max-keys"));
  const isTruncated = page.length < found.length;
  const Contents = page.map((key): Element => {
    const version = bucket.find(key) as Version;
    return {
      Key: key,
      LastModified: version.modifiedAt.toISOString(),
      ETag: version.etag,
      Size: sizeOf(request, key, version),
      StorageClass: "STANDARD",
    };
  });
  return {
    status: 200,
    body: xml("ListBucketResult", {
      Name: bucketName,
      Prefix: query.get("prefix") ?? "",
      KeyCount: page.length,
      IsTruncated: isTruncated,
      NextContinuationToken: isTruncated ? Buffer.from(page.at(-1) ?? "").toString("base64url") : undefined,
      Contents,
    }),
  };
}

export function listVersions(request: S3Request): S3Answer {
  const { bucket, bucketName, query } = request;
  const all = keysOf(request).flatMap((key) =>
    (bucket.keys.get(key) ?? []).map((version, at) => ({ key, version, isLatest: at === 0 })),
  );
  const [keyMarker, idMarker] = [query.get("key-marker"), query.get("version-id-marker")];
  const first = all.findIndex(({ key, version }) => key === keyMarker && version.versionId === idMarker);
  const rest = keyMarker === undefined ? all : all.slice(first + 1);
  const page = rest.slice(0, pageSize(request, "max-keys"));
  const last = page.length < rest.length ? page.at(-1) : undefined;
  const show = (isMarker: boolean) =>
    page
      .filter(({ version }) => (version.bytes === undefined) === isMarker)
      .map(
        ({ key, version, isLatest }): Element => ({
          Key: key,
          VersionId: version.versionId,
          IsLatest: isLatest,
          LastModified: version.modifiedAt.toISOString(),
          ...(!isMarker && { ETag: version.etag, Size: sizeOf(request, key, version) }),
        }),
      );
  return {
    status: 200,
    body: xml("ListVersionsResult", {
      Name: bucketName,
      IsTruncated: last !== undefined,
      NextKeyMarker: last?.key,
      NextVersionIdMarker: last?.version.versionId,
      Version: show(false),
      DeleteMarker: show(true),
    }),
  };
}
