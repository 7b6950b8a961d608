// Requests written by hand, which no HTTP client would send.

import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { connect, type Socket } from "node:net";

type Answered = { status: number; headers: Record<string, string>; body: string };

/** A request with exactly these headers; `fetch` would refuse to set Host or Origin. */
export async function send(
  port: number,
  what: { method?: string; path: string; headers?: Record<string, string | string[]>; body?: string },
): Promise<Answered & { json: () => Record<string, unknown> }> {
  const { method = "GET", path, headers = {}, body } = what;
  const request = httpRequest({ host: "127.0.0.1", port, method, path, headers, agent: false });
  request.on("error", () => {});
  request.end(body);
  const [response] = await once(request, "response");
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  return {
    status: response.statusCode,
    headers: response.headers,
    body: text,
    json: () => JSON.parse(text),
  };
}

/** Sends bytes and collects whatever comes until the server closes the connection. */
export async function sendRaw(port: number, bytes: string | Buffer): Promise<string> {
  const socket = connect({ host: "127.0.0.1", port });
  socket.on("error", () => {});
  socket.write(bytes);
  return collect(socket);
}

export async function collect(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  socket.on("data", (chunk) => chunks.push(chunk));
  if (!socket.closed) await once(socket, "close");
  return Buffer.concat(chunks).toString();
}

/** Splits one raw answer into its parts. */
export function parseAnswer(text: string): Answered {
  const [head = "", ...rest] = text.split("\r\n\r\n");
  const [statusLine = "", ...lines] = head.split("\r\n");
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 2)]),
  );
  return { status: Number(statusLine.split(" ")[1]), headers, body: rest.join("\r\n\r\n") };
}
