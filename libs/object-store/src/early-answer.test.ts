import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { test } from "node:test";
import { bytesBody } from "./body.ts";
import { largestSingleBytes } from "./multipart.ts";
import { openObjectStore } from "./store.ts";

/** A store that answers to each part before it reads a byte of it, and reads all of them when it is asked for them. */
async function startHastyStore() {
  const parts: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    const { method, url = "" } = request;
    if (method === "PUT") {
      // Otherwise the server reads it and throws it away.
      request.read(0);
      parts.push(request);
      response.writeHead(200, { etag: `"${parts.length}"`, "content-length": 0 }).end();
    } else if (url.includes("uploads")) response.end(xml("Initiate", "<UploadId>one</UploadId>"));
    else response.end(xml("Complete", '<ETag>"whole"</ETag>'));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    readParts: () => Promise.all(parts.map((part) => buffer(part))),
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

const xml = (what: string, inner: string) =>
  `<${what}MultipartUploadResult>${inner}</${what}MultipartUploadResult>`;

test("a store that answers before it has read a part gets its bytes, and no other memory, after the upload", async () => {
  const hasty = await startHastyStore();
  const { endpoint, readParts } = hasty;
  const store = openObjectStore({
    ...{ endpoint, bucket: "copies", prefix: "", region: "here", pathStyle: true },
    ...{ accessKey: "key", secretKey: "secret" },
  });
  try {
    const bytes = randomBytes(2 * largestSingleBytes);
    await store.put({ key: "large", fingerprint: "", body: () => bytesBody(bytes) });
    const parts = await readParts();
    assert.equal(parts.length, 2);
    for (const part of parts) {
      const from = part.equals(bytes.subarray(0, largestSingleBytes)) ? 0 : largestSingleBytes;
      assert.ok(part.equals(bytes.subarray(from, from + largestSingleBytes)));
    }
  } finally {
    store.close();
    hasty.stop();
  }
});
