// A registry for tests: docker-registry when it is installed, else a server that keeps manifests as the protocol says.

import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { accessSync, constants, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { findFreePort } from "@svc/local-stack";
import { until } from "@svc/mesh/testing";
import { request } from "undici";

export type TestRegistry = {
  /** As references and `[registry] url` write it. */
  host: string;
  isReal: boolean;
  /** Stores an image of one layer under a tag; returns its digest. */
  push: (path: string, tag: string) => Promise<string>;
  stop: () => Promise<void>;
};

const manifestType = "application/vnd.oci.image.manifest.v1+json";

export async function startTestRegistry(): Promise<TestRegistry> {
  const binary = findBinary("docker-registry");
  return binary === undefined ? startPlain() : startReal(binary);
}

function findBinary(name: string): string | undefined {
  // biome-ignore lint/style/noProcessEnv: PATH says whether the peer is installed
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return folders
    .map((folder) => join(folder, name))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

async function startReal(binary: string): Promise<TestRegistry> {
  const dir = mkdtempSync(join(tmpdir(), "svc-registry-"));
  const host = `127.0.0.1:${await findFreePort()}`;
  const config = join(dir, "config.yml");
  const storage = `storage:\n  filesystem:\n    rootdirectory: ${join(dir, "data")}\n`;
  writeFileSync(config, `version: 0.1\nlog:\n  level: error\n${storage}http:\n  addr: ${host}\n`);
  const child = spawn(binary, ["serve", config], { stdio: "ignore" });
  await until(() => isUp(host));
  return { host, isReal: true, push: pusher(host), stop: () => stop(child, dir) };
}

function isUp(host: string): Promise<boolean> {
  return request(`http://${host}/v2/`).then(
    async ({ statusCode, body }) => {
      await body.dump();
      return statusCode === 200;
    },
    () => false,
  );
}

async function stop(child: ChildProcess, dir: string): Promise<void> {
  const exited = once(child, "exit");
  child.kill();
  await exited;
  rmSync(dir, { recursive: true, force: true });
}

let pushed = 0;

function pusher(host: string): TestRegistry["push"] {
  return async (path, tag) => {
    const config = await pushBlob(host, path, JSON.stringify({ architecture: "amd64", os: "linux" }));
    const layer = await pushBlob(host, path, `layer ${pushed++}`);
    const body = JSON.stringify({
      schemaVersion: 2,
      mediaType: manifestType,
      config: { mediaType: "application/vnd.oci.image.config.v1+json", ...config },
      layers: [{ mediaType: "application/vnd.oci.image.layer.v1.tar", ...layer }],
    });
    const headers = { "content-type": manifestType };
    await send(`http://${host}/v2/${path}/manifests/${tag}`, { method: "PUT", headers, body });
    return digestOf(body);
  };
}

async function pushBlob(host: string, path: string, body: string): Promise<{ digest: string; size: number }> {
  const started = await send(`http://${host}/v2/${path}/blobs/uploads/`, { method: "POST" });
  const place = new URL(String(started["location"]), `http://${host}`);
  const digest = digestOf(body);
  place.searchParams.set("digest", digest);
  const headers = { "content-type": "application/octet-stream" };
  await send(place.href, { method: "PUT", headers, body });
  return { digest, size: body.length };
}

async function send(url: string, options: Parameters<typeof request>[1]): Promise<Record<string, unknown>> {
  const { statusCode, headers, body } = await request(url, options);
  const text = await body.text();
  if (statusCode >= 300) throw new Error(`${url} answered ${statusCode}: ${text}`);
  return headers;
}

function digestOf(bytes: string | Buffer): string {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}

type Kept = { type: string; digest: string };

async function startPlain(): Promise<TestRegistry> {
  const manifests = new Map<string, Kept>();
  const server = createServer((incoming, response) => void answer(manifests, incoming, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  };
  return { host, isReal: false, push: pusher(host), stop: close };
}

// Only what a client of manifests sees: 404 for what is unknown or of a type that was not asked for.
async function answer(
  manifests: Map<string, Kept>,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  const { method = "", url = "", headers } = incoming;
  if (url.includes("/blobs/uploads/")) {
    response.writeHead(method === "POST" ? 202 : 201, { location: `${url}x` }).end();
    return;
  }
  const [, path, wanted] = /^\/v2\/(.+)\/manifests\/([^/]+)$/.exec(url) ?? [];
  if (method === "PUT") {
    const kept = { type: headers["content-type"] ?? "", digest: digestOf(Buffer.concat(chunks)) };
    for (const name of [wanted, kept.digest]) manifests.set(`${path}@${name}`, kept);
    response.writeHead(201).end();
    return;
  }
  const kept = manifests.get(`${path}@${wanted}`);
  if (!kept || !(headers.accept ?? "").includes(kept.type)) response.writeHead(404).end();
  else response.writeHead(200, { "content-type": kept.type, "docker-content-digest": kept.digest }).end();
}
