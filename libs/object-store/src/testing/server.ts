// A strict S3 server for tests: real HTTP, verified signatures, bytes kept exactly, faults on request.

import { createHash, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import type { ObjectStoreOptions } from "../types.ts";
import { Bucket, type BucketOptions, type Version } from "./bucket.ts";
import { createFaults, type Faults, type Operation } from "./fault.ts";
import { listObjects, listVersions } from "./lists.ts";
import { deleteObject, describeBucket, getObject, headObject, putObject } from "./objects.ts";
import { Refusal } from "./refusal.ts";
import { operationOf, type S3Answer, type S3Request } from "./request.ts";
import { type Credentials, splitUrl, verifyPayload, verifySignature } from "./signature.ts";
import { abortUpload, completeUpload, createUpload, listParts, listUploads, uploadPart } from "./uploads.ts";
import { xml } from "./xml.ts";

export type S3ServerOptions = Partial<Credentials> & {
  /** Port; a free one unless given. */
  port?: number;
  /** Each by its name; one bucket `copies` without versions unless given. */
  buckets?: Readonly<Record<string, BucketOptions>>;
  conditionalPut?: S3Request["conditionalPut"];
  /** Smallest part but the last; 5 MiB, as AWS has it, unless given. */
  minPartBytes?: number;
};

export type S3Server = {
  endpoint: string;
  /** What `openObjectStore` needs for a bucket. */
  options: (bucket?: string) => ObjectStoreOptions;
  /** Requests so far, refused ones too. */
  requests: { operation: Operation | "unknown"; key: string; status: number }[];
  faults: Faults;
  /** Milliseconds that its clock is ahead. */
  setClock: (aheadMs: number) => void;
  setConditionalPut: (way: S3Request["conditionalPut"]) => void;
  setSecret: (secretKey: string) => void;
  /** The keys of a bucket that are not deleted, sorted. */
  keys: (bucket?: string) => string[];
  /** The bytes of an object; throws when there is none. */
  bytesOf: (key: string, bucket?: string) => Buffer;
  metadataOf: (key: string, bucket?: string) => Version["metadata"];
  /** Acts as the owner of the bucket: puts bytes there behind our back, or takes an object away. */
  replace: (key: string, bytes: Uint8Array, bucket?: string) => void;
  remove: (key: string, bucket?: string) => void;
  /** Uploads that were begun and neither completed nor aborted. */
  openUploads: (bucket?: string) => { key: string; parts: number[] }[];
  /** Makes every object so much older. */
  age: (ms: number) => void;
  /** Cuts all connections and takes no more, until the returned function brings it back with all that it had stored. */
  goAway: () => Promise<() => Promise<void>>;
  stop: () => Promise<void>;
};

const handlers: Record<Operation, (request: S3Request) => S3Answer> = {
  put: putObject,
  get: getObject,
  head: headObject,
  delete: deleteObject,
  list: listObjects,
  "list-versions": listVersions,
  "create-upload": createUpload,
  "upload-part": uploadPart,
  "list-parts": listParts,
  "complete-upload": completeUpload,
  "abort-upload": abortUpload,
  "list-uploads": listUploads,
  bucket: describeBucket,
};

type State = {
  credentials: Credentials;
  buckets: Map<string, Bucket>;
  conditionalPut: S3Request["conditionalPut"];
  minPartBytes: number;
  aheadMs: number;
  faults: Faults;
  requests: S3Server["requests"];
};

/** Starts the server on 127.0.0.1. Addresses have the bucket in their path. */
export async function startS3Server(options: S3ServerOptions = {}): Promise<S3Server> {
  const { accessKey = "AKIATEST", secretKey = "a secret/with+signs", region = "test-1" } = options;
  const state: State = {
    credentials: { accessKey, secretKey, region },
    buckets: new Map(),
    conditionalPut: options.conditionalPut ?? "kept",
    minPartBytes: options.minPartBytes ?? 5 * 1024 * 1024,
    aheadMs: 0,
    faults: createFaults(),
    requests: [],
  };
  const now = () => Date.now() + state.aheadMs;
  for (const [name, about] of Object.entries(options.buckets ?? { copies: { versioning: "off" } }))
    state.buckets.set(name, new Bucket(about, now));
  const server = createServer((incoming, response) => {
    answerRequest(state, incoming, response).catch(() => response.destroy());
  });
  server.requestTimeout = 0;
  const listen = (port: number) => new Promise<void>((done) => server.listen(port, "127.0.0.1", done));
  const stop = async () => {
    server.closeAllConnections();
    await new Promise<void>((done) => server.close(() => done()));
  };
  await listen(options.port ?? 0);
  const { port } = server.address() as AddressInfo;
  const endpoint = `http://127.0.0.1:${port}`;
  const goAway = async () => {
    await stop();
    return () => listen(port);
  };
  return { endpoint, ...controls(state, endpoint), goAway, stop };
}

function controls(state: State, endpoint: string): Omit<S3Server, "endpoint" | "goAway" | "stop"> {
  const bucketOf = (name = "copies") => {
    const bucket = state.buckets.get(name);
    if (!bucket) throw new Error(`there is no bucket ${name}`);
    return bucket;
  };
  const find = (key: string, name?: string) => {
    const version = bucketOf(name).find(key);
    if (!version?.bytes) throw new Error(`there is no object ${key}`);
    return { ...version, bytes: version.bytes };
  };
  return {
    faults: state.faults,
    requests: state.requests,
    options: (bucket = "copies") => ({ endpoint, ...state.credentials, bucket, prefix: "", pathStyle: true }),
    setClock(aheadMs) {
      state.aheadMs = aheadMs;
    },
    setConditionalPut(way) {
      state.conditionalPut = way;
    },
    setSecret(secretKey) {
      state.credentials = { ...state.credentials, secretKey };
    },
    keys: (name) => [...bucketOf(name).keys.keys()].filter((key) => bucketOf(name).find(key)).sort(),
    bytesOf: (key, name) => find(key, name).bytes,
    metadataOf: (key, name) => find(key, name).metadata,
    replace: (key, bytes, name) => void bucketOf(name).put(key, Buffer.from(bytes)),
    remove: (key, name) => void bucketOf(name).delete(key),
    age: (ms) => {
      const versions = [...state.buckets.values()].flatMap(({ keys }) => [...keys.values()].flat());
      for (const version of versions) version.modifiedAt = new Date(version.modifiedAt.getTime() - ms);
    },
    openUploads: (name) =>
      [...bucketOf(name).uploads.values()].map(({ key, parts }) => ({
        key,
        parts: [...parts.keys()].sort(),
      })),
  };
}

async function answerRequest(
  state: State,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const about: S3Server["requests"][number] = { operation: "unknown", key: "", status: 0 };
  state.requests.push(about);
  const answer = await carryOut(state, incoming, about).catch((error: unknown) => {
    if (error instanceof Refusal) return refuse(error);
    throw error;
  });
  about.status = answer.status;
  const request = { operation: about.operation as Operation, key: about.key };
  if (state.faults.take("lose-answer", request)) {
    incoming.socket.destroy();
    return;
  }
  const body = answer.body ?? Buffer.alloc(0);
  response.sendDate = false;
  const length = answer.status === 204 ? {} : { "content-length": String(body.length) };
  const told: Record<string, string> = { ...length, ...answer.headers };
  if (state.faults.take("hide-length", request)) delete told["content-length"];
  response.writeHead(answer.status, {
    date: new Date(Date.now() + state.aheadMs).toUTCString(),
    "x-amz-request-id": randomUUID(),
    ...told,
  });
  // What is not read of the request would be taken for the next one.
  if (!incoming.complete) response.shouldKeepAlive = false;
  await send(state, { request, body: incoming.method === "HEAD" ? Buffer.alloc(0) : body, response });
}

function refuse({ status, code, more }: Refusal): S3Answer {
  const { RetryAfter, ...elements } = more;
  return {
    status,
    headers: {
      "content-type": "application/xml",
      ...(RetryAfter !== undefined && { "retry-after": RetryAfter }),
    },
    body: xml("Error", { Code: code, Message: code, ...elements, RequestId: randomUUID() }),
  };
}

async function carryOut(
  state: State,
  incoming: IncomingMessage,
  about: S3Server["requests"][number],
): Promise<S3Answer> {
  const { method = "", url = "", headers } = incoming;
  const { path, query: pairs } = splitUrl(url);
  const [, bucketName = "", key = ""] = /^\/([^/]*)\/?(.*)$/s.exec(path) ?? [];
  const query = new Map(pairs);
  about.key = key;
  const operation = operationOf(method, key, query);
  about.operation = operation;
  const fault = state.faults.take("refuse", { operation, key });
  if (fault) {
    const more = fault.retryAfter === undefined ? {} : { RetryAfter: fault.retryAfter };
    throw new Refusal(fault.status, fault.code, more);
  }
  const signed = { method, url, headers };
  verifySignature(signed, state.credentials, Date.now() + state.aheadMs);
  const bucket = state.buckets.get(bucketName);
  if (!bucket) throw new Refusal(404, "NoSuchBucket");
  const body = await readBody(state, incoming, { operation, key });
  verifyPayload(signed, body);
  verifyMd5(headers["content-md5"], body);
  const { faults, conditionalPut, minPartBytes } = state;
  return handlers[operation]({
    ...{ operation, bucket, bucketName, key, query, headers, body, faults, conditionalPut, minPartBytes },
  });
}

function verifyMd5(given: string | string[] | undefined, body: Buffer): void {
  if (given !== undefined && given !== createHash("md5").update(body).digest("base64"))
    throw new Refusal(400, "BadDigest");
}

async function readBody(
  { faults }: State,
  incoming: IncomingMessage,
  request: { operation: Operation; key: string },
): Promise<Buffer> {
  const {
    "content-length": length,
    "transfer-encoding": coding,
    "content-encoding": encoding,
  } = incoming.headers;
  if (coding !== undefined || String(encoding).includes("aws-chunked") || "x-amz-trailer" in incoming.headers)
    throw new Refusal(501, "NotImplemented");
  if (length === undefined && ["PUT", "POST"].includes(incoming.method ?? ""))
    throw new Refusal(411, "MissingContentLength");
  const isUpload = Number(length ?? 0) > 0;
  const cut = isUpload ? faults.take("cut", request) : undefined;
  const stall = isUpload ? faults.take("stall", request) : undefined;
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (cut && size >= cut.afterBytes) throw new Error("cut");
    if (stall) await slowly(chunk.length / stall.bytesPerSecond, incoming);
  }
  if (isUpload && size !== Number(length)) throw new Refusal(400, "IncompleteBody");
  return Buffer.concat(chunks, size);
}

/** Waits, or until the connection ends. */
async function slowly(seconds: number, stream: IncomingMessage | ServerResponse): Promise<void> {
  const ended = new AbortController();
  const end = () => ended.abort();
  stream.once("close", end);
  await wait(seconds * 1_000, undefined, { signal: ended.signal, ref: false }).catch(() => {});
  stream.off("close", end);
}

type Sending = { request: { operation: Operation; key: string }; body: Buffer; response: ServerResponse };

async function send({ faults }: State, { request, body, response }: Sending): Promise<void> {
  const isDownload = request.operation === "get";
  const cut = isDownload ? faults.take("cut", request) : undefined;
  if (cut) {
    response.write(body.subarray(0, cut.afterBytes), () => response.destroy());
    return;
  }
  const stall = isDownload ? faults.take("stall", request) : undefined;
  if (!stall) {
    response.end(body);
    return;
  }
  const piece = Math.max(1, Math.ceil(stall.bytesPerSecond / 10));
  for (let at = 0; at < body.length && !response.destroyed; at += piece) {
    response.write(body.subarray(at, at + piece));
    await slowly(0.1, response);
  }
  response.end();
}
