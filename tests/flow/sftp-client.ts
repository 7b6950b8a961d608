// SFTP clients against a stack, and endpoints of their own with other settings than the stack's.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect as connectSocket, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { testProgram } from "@svc/config/test-program";
import ssh2, { type SFTPWrapper } from "ssh2";
import { type Answer, type Stack, send } from "./stack.ts";

const program = testProgram(join(import.meta.dirname, "../../services/sftp/src/main.ts"));

type Endpoint = { port: number; stop: (signal?: NodeJS.Signals) => Promise<void> };

/** Runs another process with the token of the stack; `env` are further settings of it. */
export async function startEndpoint(
  { dataDir, file }: Stack,
  env: Record<string, string> = {},
): Promise<Endpoint> {
  const child = spawn(process.execPath, [program], {
    env: {
      ...process.env,
      ...{ SVC_SFTP_PORT: "0", SVC_SFTP_HOST_KEY_FILE: join(dataDir, "secrets/sftp-host-key") },
      ...{ SVC_SERVICE_TOKEN_FILE: join(dataDir, "tokens/sftp"), SVC_API_BASE_URL: file().internal_base_url },
      ...{ SVC_EXTERNAL_URL: file().external_base_url, SVC_SFTP_PUBLIC_HOST: "127.0.0.1" },
      ...{ SVC_HEALTH_PORT: "0", ...env },
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const { msg, port } = JSON.parse(line) as { msg: string; port: number };
    if (msg !== "ready") continue;
    child.stdout.resume();
    const ended = once(child, "exit");
    const stop = async (signal?: NodeJS.Signals) => {
      child.kill(signal);
      await ended;
    };
    return { port, stop };
  }
  throw new Error("SFTP ended before it was ready");
}

export type KeyPair = { line: string; privateKey: string };

/** Type and point of a key, each with its length. */
const blobBytes = 4 + 11 + 4 + 32;

/** The generator of ssh2 loses a point's first byte where it is zero: such a key is none. */
export function makeKey(): KeyPair {
  for (;;) {
    const pair = ssh2.utils.generateKeyPairSync("ed25519", { comment: "laptop" });
    const [, base64 = ""] = pair.public.split(" ");
    if (Buffer.from(base64, "base64").length !== blobBytes) continue;
    return { line: pair.public, privateKey: pair.private };
  }
}

/** Adds a key to the account of whoever asks. */
export async function addKey(
  ask: (method: string, path: string, body?: unknown) => Promise<Answer>,
  { line }: KeyPair,
): Promise<string> {
  const added = await ask("POST", "/api/v1/account/ssh-keys", { public_key: line });
  assert.equal(added.status, 201, JSON.stringify(added.body));
  return (added.body as { key: { id: string } }).key.id;
}

/** Another account, which came from the game, at the panel. */
export async function newcomer(stack: Stack) {
  const { external_base_url, panel_host } = stack.file();
  const host = `${panel_host}:${new URL(external_base_url).port}`;
  let cookie = "";
  const ask = async (method: string, path: string, body?: unknown): Promise<Answer> => {
    const headers = { host, ...(cookie && { cookie }) };
    const answer = await send(new URL(path, external_base_url).href, { method, headers, body });
    const [set] = answer.headers["set-cookie"] ?? [];
    if (set) cookie = set.split(";")[0] ?? "";
    return answer;
  };
  const mc_uuid = randomUUID();
  const minted = await stack.internal("POST", "/api/v1/internal/account/link/code", { mc_uuid });
  const bound = await ask("POST", "/api/v1/auth/bind", { code: (minted.body as { code: string }).code });
  assert.equal(bound.status, 200, JSON.stringify(bound.body));
  return { ask, userId: (bound.body as { user_id: string }).user_id };
}

export type Client = {
  list: (path: string) => Promise<string[]>;
  read: (path: string) => Promise<Buffer>;
  write: (path: string, data: Buffer | string, flags?: string) => Promise<void>;
  /** Any other request by its name in ssh2. */
  ask: <T = void>(name: string, ...args: unknown[]) => Promise<T>;
  closed: Promise<unknown>;
  end: () => void;
};

type Who = { username: string; key: KeyPair };

/** Without Nagle's algorithm, as OpenSSH connects. */
async function openSocket(port: number): Promise<Socket> {
  const socket = connectSocket({ host: "127.0.0.1", port, noDelay: true });
  await once(socket, "connect");
  return socket;
}

/** Signs in. `ended` on failure: how it was refused. */
export async function signIn(port: number, { username, key }: Who): Promise<ssh2.Client> {
  const client = new ssh2.Client();
  const sock = await openSocket(port);
  await new Promise<void>((resolve, fail) => {
    client.once("ready", resolve).on("error", ({ message, level }: Error & { level?: string }) =>
      // However a connection ends without a refusal.
      fail(new Error(level === "client-authentication" ? message : `closed: ${message}`)),
    );
    sock.once("close", () => fail(new Error("closed")));
    client.connect({ sock, username, privateKey: key.privateKey });
  });
  return client;
}

export async function connect(port: number, who: Who): Promise<Client> {
  const client = await signIn(port, who);
  const closed = new Promise<void>((resolve) => client.once("close", () => resolve()));
  const sftp = await new Promise<SFTPWrapper>((resolve, fail) =>
    client.sftp((error, opened) => (error ? fail(error) : resolve(opened))),
  );
  const ask = <T>(name: string, ...args: unknown[]) =>
    new Promise<T>((resolve, fail) => {
      const run = (sftp as unknown as Record<string, (...given: unknown[]) => void>)[name];
      const answered = (error: unknown, answer: T) => (error ? fail(error) : resolve(answer));
      void closed.then(() => fail(new Error("closed")));
      run?.call(sftp, ...args, answered);
    });
  return {
    list: async (path) =>
      (await ask<{ filename: string }[]>("readdir", path)).map(({ filename }) => filename),
    read: (path) => ask<Buffer>("readFile", path),
    write: (path, data, flag = "w") => ask("writeFile", path, data, { flag }),
    ask,
    closed,
    end: () => client.end(),
  };
}

/** Runs OpenSSH's `sftp` with a batch of commands; `undefined` where it is not installed. */
export async function openSsh(port: number, { username, key }: Who, batch: readonly string[]) {
  const dir = mkdtempSync(join(tmpdir(), "svc-sftp-"));
  writeFileSync(join(dir, "key"), key.privateKey, { mode: 0o600 });
  writeFileSync(join(dir, "batch"), `${batch.join("\n")}\n`);
  const options = [
    "IdentitiesOnly=yes",
    "StrictHostKeyChecking=accept-new",
    `UserKnownHostsFile=${dir}/known`,
  ];
  const args = ["-F", "none", "-b", join(dir, "batch"), "-i", join(dir, "key"), "-P", String(port)];
  const child = spawn(
    "sftp",
    [...args, ...options.flatMap((option) => ["-o", option]), `${username}@127.0.0.1`],
    { cwd: dir, stdio: ["ignore", "pipe", "pipe"] },
  );
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (said += chunk));
  const code = await new Promise<number | undefined>((resolve) => {
    child.on("error", () => resolve(undefined)).on("close", (ended) => resolve(ended ?? 1));
  });
  return { code, said, dir, [Symbol.dispose]: () => rmSync(dir, { recursive: true }) };
}

/** What a peer sends until it closes, for a client that is no client of SSH. */
export async function talk(port: number, bytes: Buffer): Promise<string> {
  const socket = await openSocket(port);
  socket.on("error", () => undefined);
  let heard = "";
  socket.on("data", (chunk) => (heard += chunk.toString("latin1")));
  socket.write(bytes);
  if (!socket.closed) await once(socket, "close");
  return heard;
}
