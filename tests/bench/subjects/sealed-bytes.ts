// Sealing, opening, storing and fetching one file, and the same bytes through the bare cipher and the bare SDK.

import { createCipheriv, randomBytes } from "node:crypto";
import { createReadStream } from "node:fs";
import { appendFile, open as openFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  S3Client,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import { type ObjectStore, type ObjectStoreOptions, openObjectStore } from "@svc/object-store";
import { createSealedBody, generateKey, open, seal } from "@svc/sealed";
import { openReceived, releaseChunks } from "../../../services/ops-watchdog/src/offsite/release-chunks.ts";
import { need, serveParent } from "../harness/parent.ts";

const file = join(need("SVC_BENCH_DIR"), "world");
const ring = { active: generateKey(), older: [] };
const partBytes = 8 * 1024 * 1024;
let sizeBytes = 0;
let store: ObjectStore;
let bare: S3Client;
let bucket = "";
let sealedChunks: Buffer[] = [];

const readPlain = (from: number) => createReadStream(file, { start: from, highWaterMark: 1024 * 1024 });

async function timed(work: () => Promise<void>) {
  const startedAt = performance.now();
  await work();
  return { seconds: (performance.now() - startedAt) / 1_000 };
}

async function drain(source: AsyncIterable<Uint8Array>): Promise<void> {
  let bytes = 0;
  for await (const chunk of source) bytes += chunk.length;
  if (bytes < sizeBytes) throw new Error(`${bytes} of ${sizeBytes} bytes`);
}

/** The parts of the file, two at a time, as the documentation of the SDK shows it. */
async function bareUpload(): Promise<void> {
  const target = { Bucket: bucket, Key: "bare" };
  const { UploadId } = await bare.send(new CreateMultipartUploadCommand(target));
  const handle = await openFile(file);
  const Parts: { PartNumber: number; ETag: string | undefined }[] = [];
  let next = 0;
  const worker = async () => {
    for (;;) {
      const number = next;
      next += 1;
      const from = number * partBytes;
      if (from >= sizeBytes) return;
      const Body = Buffer.allocUnsafe(Math.min(partBytes, sizeBytes - from));
      await handle.read(Body, 0, Body.length, from);
      const part = { ...target, UploadId, PartNumber: number + 1, Body };
      const { ETag } = await bare.send(new UploadPartCommand(part));
      Parts.push({ PartNumber: number + 1, ETag });
    }
  };
  await Promise.all([worker(), worker()]);
  await handle.close();
  Parts.sort((one, two) => one.PartNumber - two.PartNumber);
  await bare.send(new CompleteMultipartUploadCommand({ ...target, UploadId, MultipartUpload: { Parts } }));
}

async function bareFetch(): Promise<void> {
  const { Body } = await bare.send(new GetObjectCommand({ Bucket: bucket, Key: "bare" }));
  await drain(Body as AsyncIterable<Uint8Array>);
}

async function put(): Promise<void> {
  await store.put({
    key: "sealed",
    fingerprint: "world",
    body: (state) => createSealedBody({ key: ring.active, plainBytes: sizeBytes, readPlain, state }),
  });
}

async function fetch(): Promise<void> {
  const found = await store.get("sealed");
  if (!found) throw new Error("it is not there");
  // As the fetches of ops-watchdog read it: what arrived and what was opened is freed once it was used.
  await drain(releaseChunks(openReceived(found.bytes, ring)));
}

async function* fromMemory(chunks: readonly Buffer[]) {
  yield* chunks;
}

serveParent({
  fill: async (megabytes: number) => {
    await writeFile(file, "");
    for (let written = 0; written < megabytes; written += 1) await appendFile(file, randomBytes(1_000_000));
  },
  connect: async (options: ObjectStoreOptions) => {
    sizeBytes = (await stat(file)).size;
    store = openObjectStore({ ...options, uploadDir: `${file}-uploads` });
    const { endpoint = "", region, accessKey: accessKeyId, secretKey: secretAccessKey } = options;
    bucket = options.bucket;
    const credentials = { accessKeyId, secretAccessKey };
    bare = new S3Client({
      endpoint,
      region,
      credentials,
      forcePathStyle: true,
      requestChecksumCalculation: "WHEN_REQUIRED",
    });
  },
  put: () => timed(put),
  barePut: () => timed(bareUpload),
  fetch: () => timed(fetch),
  bareFetch: () => timed(bareFetch),
  seal: () => timed(() => drain(seal(readPlain(0), ring.active))),
  cipher: () =>
    timed(() => {
      const cipher = createCipheriv("aes-256-gcm", ring.active.secret, randomBytes(12));
      return drain(readPlain(0).pipe(cipher));
    }),
  hold: async () => {
    sealedChunks = [];
    for await (const chunk of seal(readPlain(0), ring.active)) sealedChunks.push(chunk);
  },
  open: () => timed(() => drain(open(fromMemory(sealedChunks), ring))),
  release: async () => {
    sealedChunks = [];
  },
  end: async () => {
    store.close();
    bare.destroy();
  },
});
