import { createHash, randomUUID } from "node:crypto";
import { tagOf, type Upload } from "./bucket.ts";
import { metadataOf, versionHeader } from "./objects.ts";
import { Refusal } from "./refusal.ts";
import { numberOf, type S3Answer, type S3Request } from "./request.ts";
import { type Element, xml } from "./xml.ts";

function findUpload({ bucket, key, query }: S3Request): { id: string; upload: Upload } {
  const id = query.get("uploadId") ?? "";
  const upload = bucket.uploads.get(id);
  if (!upload || upload.key !== key) throw new Refusal(404, "NoSuchUpload");
  return { id, upload };
}

export function createUpload(request: S3Request): S3Answer {
  const { bucket, bucketName, key } = request;
  const id = randomUUID();
  bucket.uploads.set(id, {
    key,
    metadata: metadataOf(request),
    initiatedAt: bucket.date(),
    parts: new Map(),
  });
  const body = xml("InitiateMultipartUploadResult", { Bucket: bucketName, Key: key, UploadId: id });
  return { status: 200, body };
}

export function uploadPart(request: S3Request): S3Answer {
  const { bucket, query, body } = request;
  const number = numberOf(query, "partNumber", 0);
  if (number < 1 || number > 10_000) throw new Refusal(400, "InvalidArgument");
  const { upload } = findUpload(request);
  const part = { bytes: body, etag: tagOf(body), modifiedAt: bucket.date() };
  upload.parts.set(number, part);
  return { status: 200, headers: { etag: part.etag } };
}

export function listParts(request: S3Request): S3Answer {
  const { id, upload } = findUpload(request);
  const marker = numberOf(request.query, "part-number-marker", 0);
  const numbers = [...upload.parts.keys()].filter((number) => number > marker).sort((one, two) => one - two);
  const page = numbers.slice(0, Math.min(1_000, numberOf(request.query, "max-parts", 1_000)));
  const Part = page.map((number): Element => {
    const part = upload.parts.get(number);
    return {
      PartNumber: number,
      ETag: part?.etag,
      Size: part?.bytes.length,
      LastModified: part?.modifiedAt.toISOString(),
    };
  });
  const isTruncated = page.length < numbers.length;
  return {
    status: 200,
    body: xml("ListPartsResult", {
      Key: request.key,
      UploadId: id,
      IsTruncated: isTruncated,
      // Stores name a next page also after the last one.
      NextPartNumberMarker: page.at(-1) ?? 0,
      Part,
    }),
  };
}

export function completeUpload(request: S3Request): S3Answer {
  const { bucket, bucketName, key, body, minPartBytes } = request;
  const { id, upload } = findUpload(request);
  const named = [...body.toString().matchAll(/<Part>(.*?)<\/Part>/gs)].map(([, part = ""]) => ({
    number: Number(/<PartNumber>(\d+)<\/PartNumber>/.exec(part)?.[1]),
    etag: (/<ETag>(.*?)<\/ETag>/.exec(part)?.[1] ?? "").replaceAll("&quot;", '"'),
  }));
  if (named.length === 0) throw new Refusal(400, "MalformedXML");
  const parts = named.map(({ number, etag }, at) => {
    if (at > 0 && number <= (named[at - 1]?.number ?? 0)) throw new Refusal(400, "InvalidPartOrder");
    const part = upload.parts.get(number);
    if (!part || part.etag !== etag) throw new Refusal(400, "InvalidPart");
    if (at < named.length - 1 && part.bytes.length < minPartBytes) throw new Refusal(400, "EntityTooSmall");
    return part;
  });
  const digests = parts.map(({ etag }) => Buffer.from(etag.slice(1, -1), "hex"));
  const etag = `"${createHash("md5").update(Buffer.concat(digests)).digest("hex")}-${parts.length}"`;
  const bytes = Buffer.concat(parts.map((part) => part.bytes));
  bucket.uploads.delete(id);
  const version = bucket.put(key, bytes, { metadata: upload.metadata, etag });
  return {
    status: 200,
    headers: versionHeader(request, version),
    body: xml("CompleteMultipartUploadResult", { Bucket: bucketName, Key: key, ETag: etag }),
  };
}

export function abortUpload(request: S3Request): S3Answer {
  const { id } = findUpload(request);
  request.bucket.uploads.delete(id);
  return { status: 204 };
}

export function listUploads({ bucket, query }: S3Request): S3Answer {
  const prefix = query.get("prefix") ?? "";
  const [keyMarker, idMarker = ""] = [query.get("key-marker"), query.get("upload-id-marker")];
  const place = (key: string, id: string) => `${key}\n${id}`;
  const found = [...bucket.uploads]
    .filter(
      ([id, { key }]) =>
        key.startsWith(prefix) && (keyMarker === undefined || place(key, id) > place(keyMarker, idMarker)),
    )
    .sort(([one, { key: oneKey }], [two, { key: twoKey }]) =>
      place(oneKey, one) < place(twoKey, two) ? -1 : 1,
    );
  const page = found.slice(0, Math.min(1_000, numberOf(query, "max-uploads", 1_000)));
  const last = page.length < found.length ? page.at(-1) : undefined;
  return {
    status: 200,
    body: xml("ListMultipartUploadsResult", {
      IsTruncated: last !== undefined,
      NextKeyMarker: last?.[1].key,
      NextUploadIdMarker: last?.[0],
      Upload: page.map(([id, { key, initiatedAt }]) => ({
        Key: key,
        UploadId: id,
        Initiated: initiatedAt.toISOString(),
      })),
    }),
  };
}
