// Which answers are compressed, and for whom (docs/reference/http.md#compression).

import { promisify } from "node:util";
import { gzip, gzipSync } from "node:zlib";
import type { Face, HttpBinding } from "@svc/proto";

/** A shorter answer fits one packet either way. */
const fromBytes = 1_024;
/** A longer one takes a thread: it would hold up other requests for milliseconds. */
const inlineBytes = 256 * 1_024;
const options = { level: 1 };
const gzipOnThread = promisify(gzip);

/**
 * Reads of somebody who is signed in. Answers to others stand beside secrets, such as codes and cookies; callers of the
 * internal face are in the same network.
 */
export function isCompressed(face: Face, http: HttpBinding): boolean {
  const isRead = http.kind === "json" && http.method === "GET";
  return face === "external" && isRead && http.tier !== "public" && !http.session && !http.holdsSecrets;
}

/** Bytes of JSON, and their compressed form once it was made. */
export type Packable = { body: Uint8Array; packed?: Uint8Array | Promise<Uint8Array> };

export function isWorthPacking({ body }: Packable): boolean {
  return body.byteLength >= fromBytes;
}

/** The compressed form, made once; a promise where it takes a thread. */
export function pack(answer: Packable): Uint8Array | Promise<Uint8Array> {
  if (answer.packed !== undefined) return answer.packed;
  const { body } = answer;
  answer.packed =
    body.byteLength <= inlineBytes
      ? gzipSync(body, options)
      : gzipOnThread(body, options).then((packed) => {
          answer.packed = packed;
          return packed;
        });
  return answer.packed;
}

/** Whether an Accept-Encoding header takes an encoding. */
export function takesEncoding(accepted: string | undefined, encoding: string): boolean {
  if (accepted === undefined) return false;
  let any = false;
  for (const entry of accepted.toLowerCase().split(",")) {
    const [name = "", ...parameters] = entry.split(";").map((part) => part.trim());
    if (name !== encoding && name !== "*") continue;
    const weight = parameters.find((parameter) => parameter.startsWith("q="));
    const isTaken = weight === undefined || Number(weight.slice(2)) > 0;
    if (name === encoding) return isTaken;
    any = isTaken;
  }
  return any;
}
