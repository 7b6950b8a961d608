// Verifies signatures of version 4, as strictly as the documents of AWS say it.

import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { Refusal } from "./refusal.ts";

type SignedRequest = { method: string; url: string; headers: IncomingHttpHeaders };
export type Credentials = { accessKey: string; secretKey: string; region: string };

const maxSkewMs = 15 * 60_000;

/** Throws a `Refusal` unless the request is signed with these credentials within 15 minutes of `now`. */
export function verifySignature(request: SignedRequest, credentials: Credentials, now: number): void {
  const { accessKey, scope, signedHeaders, signature } = parseAuthorization(request.headers.authorization);
  const date = header(request, "x-amz-date");
  const signedAt = Date.parse(
    date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"),
  );
  if (Number.isNaN(signedAt)) throw new Refusal(403, "AccessDenied");
  if (accessKey !== credentials.accessKey) throw new Refusal(403, "InvalidAccessKeyId");
  const wanted = `${date.slice(0, 8)}/${credentials.region}/s3/aws4_request`;
  if (scope !== wanted) throw new Refusal(400, "AuthorizationHeaderMalformed", { Expected: wanted });
  if (Math.abs(signedAt - now) > maxSkewMs) {
    throw new Refusal(403, "RequestTimeTooSkewed", {
      RequestTime: date,
      ServerTime: new Date(now).toISOString(),
      MaxAllowedSkewMilliseconds: String(maxSkewMs),
    });
  }
  checkSignedHeaders(request, signedHeaders);
  const text = `AWS4-HMAC-SHA256\n${date}\n${scope}\n${sha256(canonicalRequest(request, signedHeaders))}`;
  let key: Buffer | string = `AWS4${credentials.secretKey}`;
  for (const part of scope.split("/")) key = createHmac("sha256", key).update(part).digest();
  const right = createHmac("sha256", key).update(text).digest();
  const given = Buffer.from(signature, "hex");
  if (given.length !== right.length || !timingSafeEqual(given, right))
    throw new Refusal(403, "SignatureDoesNotMatch");
}

/** Throws a `Refusal` unless the body has the digest that was signed. */
export function verifyPayload(request: SignedRequest, body: Buffer): void {
  const digest = header(request, "x-amz-content-sha256");
  if (digest === "UNSIGNED-PAYLOAD") return;
  if (digest.startsWith("STREAMING-")) throw new Refusal(501, "NotImplemented");
  if (!/^[0-9a-f]{64}$/.test(digest)) throw new Refusal(400, "InvalidArgument");
  if (sha256(body) !== digest) throw new Refusal(400, "XAmzContentSHA256Mismatch");
}

const sha256 = (data: string | Buffer) => createHash("sha256").update(data).digest("hex");

function header({ headers }: SignedRequest, name: string): string {
  const value = headers[name];
  if (typeof value !== "string" || value === "")
    throw new Refusal(400, "MissingSecurityHeader", { Header: name });
  return value;
}

function parseAuthorization(authorization: string | undefined) {
  if (authorization === undefined) throw new Refusal(403, "AccessDenied");
  const match =
    /^AWS4-HMAC-SHA256 Credential=([^/,]+)\/([^,]+), ?SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})$/.exec(
      authorization,
    );
  if (!match) throw new Refusal(400, "AuthorizationHeaderMalformed");
  const [, accessKey = "", scope = "", names = "", signature = ""] = match;
  return { accessKey, scope, signedHeaders: names.split(";"), signature };
}

// A header that is not signed could be changed on the way.
function checkSignedHeaders({ headers }: SignedRequest, signed: readonly string[]): void {
  const isSorted = signed.every((name, at) => at === 0 || name > (signed[at - 1] ?? ""));
  const needed = Object.keys(headers).filter(
    (name) => name === "host" || name === "content-md5" || name.startsWith("x-amz-"),
  );
  if (!isSorted || !needed.every((name) => signed.includes(name)))
    throw new Refusal(403, "AccessDenied", { HeadersNotSigned: needed.join(", ") });
}

function canonicalRequest({ method, url, headers }: SignedRequest, signed: readonly string[]): string {
  const { path, query } = splitUrl(url);
  const pairs = query.map(([name, value]) => `${encode(name)}=${encode(value)}`).sort();
  const lines = signed.map(
    (name) =>
      `${name}:${String(headers[name] ?? "")
        .trim()
        .replace(/ +/g, " ")}\n`,
  );
  return [
    method,
    path.split("/").map(encode).join("/"),
    pairs.join("&"),
    lines.join(""),
    signed.join(";"),
    headers["x-amz-content-sha256"],
  ].join("\n");
}

/** The decoded path and query of a request. */
export function splitUrl(url: string): { path: string; query: [string, string][] } {
  const [path = "", ...rest] = url.split("?");
  const search = rest.join("?");
  try {
    const query = search === "" ? [] : search.split("&").map(pairOf);
    return { path: decodeURIComponent(path), query };
  } catch {
    throw new Refusal(400, "InvalidURI");
  }
}

function pairOf(text: string): [string, string] {
  const [name = "", ...value] = text.split("=");
  return [decodeURIComponent(name), decodeURIComponent(value.join("="))];
}

function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
