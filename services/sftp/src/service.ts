import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { systemClock } from "@svc/service/clock";
import { createTokenSource } from "@svc/service/token";
import type { Logger, Registry } from "@svc/telemetry";
import ssh2, { type ServerConfig } from "ssh2";
import type { SftpConfig } from "./config.ts";
import { createRoom } from "./files/spool.ts";
import { createMetrics } from "./metrics.ts";
import { createAdmission } from "./ssh/admission.ts";
import { type ConnectionDeps, serveConnection } from "./ssh/connection.ts";
import { deriveHostKey } from "./ssh/host-key.ts";
import { createIdentity } from "./ssh/identity.ts";

type Runtime = { readonly config: SftpConfig; readonly log: Logger; readonly registry: Registry };

const tokenRereadMs = 1_000;
const announceMs = 60_000;
const announceAgainMs = 1_000;

/** What is not broken, and as few kinds as clients of the last ten years need. */
const algorithms: NonNullable<ServerConfig["algorithms"]> = {
  kex: [
    ...(["curve25519-sha256", "curve25519-sha256@libssh.org"] as const),
    ...(["ecdh-sha2-nistp256", "ecdh-sha2-nistp384", "ecdh-sha2-nistp521"] as const),
    ...(["diffie-hellman-group16-sha512", "diffie-hellman-group14-sha256"] as const),
  ],
  cipher: [
    ...(["chacha20-poly1305@openssh.com", "aes128-gcm@openssh.com", "aes256-gcm@openssh.com"] as const),
    ...(["aes128-ctr", "aes192-ctr", "aes256-ctr"] as const),
  ],
  hmac: [
    ...(["hmac-sha2-256-etm@openssh.com", "hmac-sha2-512-etm@openssh.com"] as const),
    ...(["hmac-sha2-256", "hmac-sha2-512"] as const),
  ],
  compress: ["none"],
};

export async function startSftp({ config, log, registry }: Runtime) {
  const hostKey = deriveHostKey(config.hostKeySecret);
  const token = createTokenSource({ file: config.tokenFile, rereadMs: tokenRereadMs, now: systemClock.now });
  const identity = createIdentity({ internalUrl: config.internalUrl, token });
  const admission = createAdmission(config, systemClock.now);
  const room = createRoom(config.spoolBytes);
  const { spoolBytes } = config;
  const metrics = createMetrics(registry, {
    sessions: admission.signedIn,
    spooled: room.used,
    spoolBytes,
  });
  const ending = new Set<Promise<unknown>>();
  const deps: ConnectionDeps = { ...config, identity, admission, metrics, log, room, ending };
  const { listener, sockets } = createListener(deps, hostKey.privateKey);
  listener.listen(config.port, config.host);
  await once(listener, "listening");
  const { port } = listener.address() as AddressInfo;
  const announcer = announce({
    work: () =>
      identity.announce({
        host: config.publicHost,
        port: config.publicPort || port,
        fingerprint: hostKey.fingerprint,
      }),
    log,
  });
  return {
    ready: { port },
    notReady: () => (listener.listening ? undefined : "it does not listen"),
    stop: async () => {
      announcer.stop();
      listener.close();
      for (const socket of sockets) socket.destroy();
      // Their close events have to come first.
      await new Promise((resolve) => setImmediate(resolve));
      await Promise.all(ending);
    },
  };
}

/** The sockets are ours, so that a client that does not read can be waited for. */
function createListener(deps: ConnectionDeps, hostKey: string) {
  const { admission } = deps;
  const sockets = new Set<Socket>();
  const peerOf = new Map<string, { socket: Socket; onSignedIn: () => void }>();
  const ssh = new ssh2.Server({ hostKeys: [hostKey], ident: "svc", algorithms }, (client, info) => {
    const peer = peerOf.get(`${info.ip} ${info.port}`);
    if (!peer) return client.end();
    const { software = "" } = info.header.versions;
    serveConnection(deps, { client, ...peer, address: normal(info.ip), software });
  });
  ssh.on("error", (error: Error) => deps.log.error({ err: error }, "the listener failed"));
  const listener = createServer({ noDelay: true }, (socket) => {
    const address = normal(socket.remoteAddress ?? "");
    const name = `${socket.remoteAddress} ${socket.remotePort}`;
    // What a scanner does to a connection is no error of ours.
    socket.on("error", () => socket.destroy());
    if (!admission.enter(address)) return socket.destroy();
    const late = setTimeout(() => socket.destroy(), signInMs);
    sockets.add(socket);
    peerOf.set(name, { socket, onSignedIn: () => clearTimeout(late) });
    socket.once("close", () => {
      clearTimeout(late);
      sockets.delete(socket);
      peerOf.delete(name);
      admission.leave(address);
    });
    ssh.injectSocket(socket);
  });
  return { listener, sockets };
}

/** From the connection to the sign-in. */
const signInMs = 30_000;

function normal(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, "");
}

function announce({ work, log }: { work: () => Promise<unknown>; log: Logger }) {
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  const run = async () => {
    const nextMs = await work().then(
      () => announceMs,
      (error: unknown) => {
        log.warn({ error: (error as Error).message }, "announcing the address failed; retrying");
        return announceAgainMs;
      },
    );
    if (!isStopped) timer = setTimeout(() => void run(), nextMs);
  };
  void run();
  return {
    stop: () => {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
