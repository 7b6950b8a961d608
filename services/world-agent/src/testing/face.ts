// The internal face as a Job sees it: one URL that gives or takes a stream.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

type Face = AsyncDisposable & { url: string; seen: { method: string; authorization: string }[] };

export async function startFace(
  answer: (request: IncomingMessage, response: ServerResponse) => void | Promise<void>,
): Promise<Face> {
  const seen: Face["seen"] = [];
  const server = createServer((request, response) => {
    seen.push({ method: request.method ?? "", authorization: request.headers.authorization ?? "" });
    void answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}/api/v1/internal/exports/1`,
    seen,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
