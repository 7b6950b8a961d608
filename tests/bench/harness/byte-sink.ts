// Stands in for the internal face: takes whatever is sent and gives a file out.

import { createHash } from "node:crypto";
import { once } from "node:events";
import { createReadStream } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { pipeline } from "node:stream/promises";

const highWaterMark = 1 << 20;

type ByteSink = { url: string; size: number; sha256: string; stop: () => Promise<void> };

export async function startByteSink(file: string): Promise<ByteSink> {
  const hash = createHash("sha256");
  let size = 0;
  for await (const chunk of createReadStream(file, { highWaterMark })) {
    hash.update(chunk as Buffer);
    size += (chunk as Buffer).length;
  }
  const server = createServer((request, response) => {
    if (request.method === "GET")
      return void pipeline(createReadStream(file, { highWaterMark }), response).catch(() =>
        response.destroy(),
      );
    request.resume().once("end", () => response.end());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/file`,
    size,
    sha256: hash.digest("hex"),
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
