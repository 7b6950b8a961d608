// What a client of a registry needs of one, kept in memory.

import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { digestOf } from "../blob.ts";

type Stored = { type: string; bytes: Buffer };
/** Blobs and manifests by `path@digest` and `path:tag`. */
type Content = Map<string, Stored>;

/** Like docker-registry it has no referrers API, unless the test wants one. */
export async function startMemoryRegistry({
  hasReferrers = false,
} = {}): Promise<{ host: string; stop: () => Promise<void> }> {
  const content: Content = new Map();
  const server = createServer((request, response) => {
    const asked = /^\/v2\/(.+)\/referrers\/([^/?]+)/.exec(request.url ?? "");
    if (!asked) return void answer(content, request, response);
    if (!hasReferrers) return void response.writeHead(404).end();
    giveReferrers(content, { path: asked[1] ?? "", subject: asked[2] ?? "" }, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const stop = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  };
  return { host, stop };
}

async function answer(content: Content, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  const url = new URL(request.url ?? "", "http://registry");
  const { method = "" } = request;
  const uploads = /^\/v2\/(.+)\/blobs\/uploads\//.exec(url.pathname);
  const [, path = "", kind, wanted = ""] =
    /^\/v2\/(.+)\/(manifests|blobs)\/([^/]+)$/.exec(url.pathname) ?? [];
  if (method === "POST" && uploads) {
    response.writeHead(202, { location: `${url.pathname}one?_state=1` }).end();
  } else if (method === "PUT") {
    const digest = digestOf(bytes);
    const asked = url.searchParams.get("digest") ?? digest;
    const type = request.headers["content-type"] ?? "";
    const name = uploads?.[1] ?? path;
    const stored = { type, bytes };
    if (asked === digest) for (const key of keysOf(name, digest, wanted)) content.set(key, stored);
    response.writeHead(asked === digest ? 201 : 400, { "docker-content-digest": digest }).end();
  } else if (url.pathname === "/v2/") {
    response.writeHead(200).end();
  } else if (kind === undefined) {
    list(content, url, response);
  } else if (method === "DELETE") {
    const stored = content.get(`${path}@${wanted}`);
    for (const [key, value] of content) if (value === stored) content.delete(key);
    response.writeHead(stored ? 202 : 404).end();
  } else {
    give(content.get(`${path}@${wanted}`) ?? content.get(`${path}:${wanted}`), request, response);
  }
}

function keysOf(path: string, digest: string, reference: string): string[] {
  return [`${path}@${digest}`, ...(reference && !reference.includes(":") ? [`${path}:${reference}`] : [])];
}

// A manifest of a type that was not asked for is not there.
function give(stored: Stored | undefined, request: IncomingMessage, response: ServerResponse): void {
  const accepted = request.headers.accept;
  if (!stored || (accepted !== undefined && accepted !== "*/*" && !accepted.includes(stored.type)))
    return void response.writeHead(404).end();
  const headers = {
    "content-type": stored.type,
    "content-length": stored.bytes.length,
    "docker-content-digest": digestOf(stored.bytes),
  };
  response.writeHead(200, headers).end(request.method === "HEAD" ? undefined : stored.bytes);
}

function list(content: Content, url: URL, response: ServerResponse): void {
  const repository = /^\/v2\/(.+)\/tags\/list$/.exec(url.pathname)?.[1];
  const keys = [...content.keys()];
  const all =
    repository === undefined
      ? new Set(keys.map((key) => key.split(/[@:]/)[0]))
      : keys.filter((key) => key.startsWith(`${repository}:`)).map((key) => key.slice(repository.length + 1));
  const after = url.searchParams.get("last") ?? "";
  const left = [...all].sort().filter((name) => (name ?? "") > after);
  const page = left.slice(0, Number(url.searchParams.get("n") ?? 100));
  const next = `<${url.pathname}?n=${url.searchParams.get("n")}&last=${page.at(-1)}>; rel="next"`;
  const headers = page.length < left.length ? { link: next } : {};
  response.writeHead(200, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(repository === undefined ? { repositories: page } : { tags: page }));
}

function giveReferrers(
  content: Content,
  { path, subject }: { path: string; subject: string },
  response: ServerResponse,
): void {
  const manifests = [...content].flatMap(([key, { type, bytes }]) => {
    if (!key.startsWith(`${path}@`) || !type.includes("manifest")) return [];
    const manifest = JSON.parse(bytes.toString("utf8"));
    if (manifest.subject?.digest !== subject) return [];
    const { artifactType } = manifest;
    return [{ mediaType: type, digest: digestOf(bytes), size: bytes.length, artifactType }];
  });
  const mediaType = "application/vnd.oci.image.index.v1+json";
  response.writeHead(200, { "content-type": mediaType });
  response.end(JSON.stringify({ schemaVersion: 2, mediaType, manifests }));
}
