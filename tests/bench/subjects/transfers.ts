// The data port of storage as it ships: staging of parts, and the relay that holds the last bytes of a download back.
// Gateways, which only pass bytes on, are measured elsewhere; a Job is a file here.

import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { join } from "node:path";
import { createLogger } from "@svc/telemetry";
import { startByteTransferServer } from "../../../libs/mesh/src/byte-transfer/server.ts";
import { createRelay } from "../../../services/storage/src/export/relay.ts";
import { createStaging } from "../../../services/storage/src/transfer/staging.ts";
import { need, serveParent } from "../harness/parent.ts";

const base = need("BENCH_BASE");
const id = "0".repeat(32);
const staging = createStaging({ path: base, keepFree: 0 });
const { byteTransfers } = await startByteTransferServer({
  host: "127.0.0.1",
  log: createLogger("storage", "warn"),
});

type Part = { offset: number; length: number; sha256: string };

const part = (coming: Part) =>
  byteTransfers.upload({
    receive: (body, _head, signal) => staging.receive(body, { ...coming, id, signal }),
  });

/** As the anchor reads it; a Job's body comes by itself as well. */
const pieces = (file: string) => createReadStream(join(base, file), { highWaterMark: 1 << 20 });

/** `isPlain`: nobody knows its digest but the Job that sends it. */
async function download({ file, isPlain }: { file: string; isPlain: boolean }) {
  const hash = createHash("sha256");
  let size = 0;
  for await (const piece of pieces(file)) {
    hash.update(piece);
    size += piece.length;
  }
  const digest = hash.digest();
  const expected = { size, sha256: digest.toString("hex") };
  const about = isPlain ? { length: size } : { expected };
  const relay = createRelay({ ...about, waitMs: 60_000, bodyMs: 60_000, onWaited: async () => true });
  const trailerDigest = () => `sha-256=:${digest.toString("base64")}:`;
  const head = { contentLength: undefined, contentDigest: undefined, trailerDigest };
  relay.receive(pieces(file), head, new AbortController().signal).catch(() => {});
  return byteTransfers.download({ headers: {}, source: relay.source });
}

serveParent({ part, download, clear: () => staging.remove(id) });
