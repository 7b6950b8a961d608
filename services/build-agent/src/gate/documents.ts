// Sends report and SBOM to builds; whatever does not arrive is omitted, the verdict stands without it
// (docs/reference/builds.md#documents).

import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import * as scans from "@svc/proto/scan";
import { request } from "undici";
import type { StepContext } from "../step.ts";

type Documents = { report: Buffer; sbom: Buffer | undefined };
type Omitted = scans.ScanDocument[];
type Packed = [name: scans.ScanDocument, bytes: Buffer][];

/** The documents that fit, compressed: the SBOM is left out first, then the report. */
export async function packDocuments(
  { report, sbom }: Documents,
  most: number = scans.scanDocumentBytes,
): Promise<Packed> {
  const packed: Packed = [["report", await promisify(gzip)(report)]];
  if (sbom !== undefined) packed.push(["sbom", await promisify(gzip)(sbom)]);
  while (packed.reduce((sum, [, { length }]) => sum + length, 0) > most) packed.pop();
  return packed;
}

type Destination = Pick<StepContext, "say" | "signal"> & { url: string; token: string; forMs: number };

/** Returns what builds does not have. */
export async function sendDocuments(documents: Documents, destination: Destination): Promise<Omitted> {
  const packed = await packDocuments(documents);
  const omitted = new Set<scans.ScanDocument>(["report", "sbom"]);
  const endAt = performance.now() + destination.forMs;
  for (const [name, bytes] of packed) {
    const problem = await sendUntil(endAt, destination, { name, bytes });
    if (problem === undefined) omitted.delete(name);
    else destination.say(`the ${name} is not kept: ${problem}`);
  }
  return [...omitted];
}

type Document = { name: string; bytes: Buffer };

/** Undefined when it arrived, else why not. */
async function sendUntil(
  endAt: number,
  destination: Destination,
  document: Document,
): Promise<string | undefined> {
  for (let pauseMs = 250; ; pauseMs *= 2) {
    const status = await send(destination, document);
    if (status >= 200 && status < 300) return undefined;
    const isFinal = status >= 300 && status < 500 && status !== 429;
    if (isFinal || performance.now() + pauseMs > endAt)
      return status === 0 ? "the internal face does not answer" : `the internal face answered ${status}`;
    await delay(pauseMs, undefined, { signal: destination.signal });
  }
}

/** Status of the answer; 0 without one. */
async function send({ url, token, signal }: Destination, { name, bytes }: Document): Promise<number> {
  const headers = {
    authorization: `Bearer ${token}`,
    "content-type": "application/gzip",
    "content-digest": `sha-256=:${createHash("sha256").update(bytes).digest("base64")}:`,
    "content-length": String(bytes.length),
  };
  try {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(30_000)]);
    const answer = await request(`${url}/${name}`, { method: "PUT", headers, body: bytes, signal: limit });
    await answer.body.dump();
    return answer.statusCode;
  } catch (error) {
    if (signal.aborted) throw error;
    return 0;
  }
}
