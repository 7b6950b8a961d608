// SFTP and those who mean no good, and what can't be helped: limits, what is no SSH or no SFTP, and peers that are away.

import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect as connectSocket, createServer, type Socket } from "node:net";
import { test } from "node:test";
import { until } from "@svc/local-stack/testing";
import type { ClientChannel, Client as SshClient } from "ssh2";
import { connect, type KeyPair, makeKey, signIn, startEndpoint, talk } from "./sftp-client.ts";
import type { Stack } from "./stack.ts";

type Fixture = { stack: Stack; port: number; key: KeyPair; username: string };

const failure = 4;

/** A way to a face that can be cut. */
async function openRelay(target: string) {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  const server = createServer((one) => {
    const other = connectSocket({ host: hostname, port: Number(port) });
    for (const [from, to] of [
      [one, other],
      [other, one],
    ] as const) {
      sockets.add(from);
      from.on("error", () => to.destroy()).on("close", () => to.destroy());
      from.pipe(to);
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const cut = () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, cut };
}

/** Connects and says nothing. */
async function greet(port: number): Promise<{ socket: Socket; isGreeted: boolean }> {
  const socket = connectSocket({ host: "127.0.0.1", port });
  socket.on("error", () => undefined);
  const isGreeted = await new Promise<boolean>((resolve) => {
    socket.once("data", () => resolve(true)).once("close", () => resolve(false));
  });
  return { socket, isGreeted };
}

const subsystem = (client: SshClient) =>
  new Promise<ClientChannel>((resolve, fail) =>
    client.subsys("sftp", (error, channel) => (error ? fail(error) : resolve(channel))),
  );

const uint32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};

export function addHostileTests(fixture: () => Fixture): void {
  test("what is no SSH is closed, and the others go on", async () => {
    const { port, key, username } = fixture();
    const noise = [
      Buffer.from("GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
      Buffer.alloc(100_000, 0x5a),
      Buffer.from(`SSH-2.0-${"x".repeat(100_000)}`),
      Buffer.concat([Buffer.from("SSH-2.0-x\r\n"), uint32(2 ** 32 - 1), Buffer.alloc(1_000, 7)]),
    ];
    const heard = await Promise.all(noise.map((bytes) => talk(port, bytes)));
    for (const answer of heard) assert.match(answer, /^(SSH-2\.0-svc\r\n[\s\S]*)?$/);
    (await connect(port, { username, key })).end();
  });

  test("what is no SFTP ends its connection", async () => {
    const { port, key, username } = fixture();
    for (const bytes of [uint32(2 ** 32 - 1), uint32(0), Buffer.concat([uint32(2), Buffer.of(17, 0)])]) {
      const client = await signIn(port, { username, key });
      const closed = once(client, "close");
      const channel = await subsystem(client);
      channel.write(bytes);
      await closed;
    }
  });

  test("there is no shell, no command and no forwarding", async () => {
    const { port, key, username } = fixture();
    const client = await signIn(port, { username, key });
    const refused = (work: (done: (error?: Error) => void) => void) =>
      assert.rejects(
        new Promise<void>((resolve, fail) => work((error) => (error ? fail(error) : resolve()))),
      );
    await refused((done) => client.exec("id", done));
    await refused((done) => client.shell(done));
    await refused((done) => client.forwardOut("127.0.0.1", 1, "127.0.0.1", 22, done));
    await refused((done) => client.forwardIn("127.0.0.1", 0, done));
    client.end();
  });

  test("a connection has so many files open", async () => {
    const { port, key, username } = fixture();
    const client = await connect(port, { username, key });
    // One listing of the folder does for all of them.
    for (let count = 0; count < 64; count++) await client.ask("open", `/open-${count}`, "w");
    await assert.rejects(client.ask("open", "/open", "w"), {
      code: failure,
      message: /Too many files are open/,
    });
    client.end();
  });

  test("an address has so many connections and signatures, and an account so many sessions", async () => {
    const { stack, key, username } = fixture();
    const endpoint = await startEndpoint(stack, {
      SVC_SFTP_CONNECTIONS_PER_ADDRESS: "3",
      SVC_SFTP_SIGN_INS_PER_MINUTE: "3",
      SVC_SFTP_SESSIONS_PER_ACCOUNT: "1",
      SVC_SFTP_IDLE_SECONDS: "10",
    });
    try {
      const idle = [await greet(endpoint.port), await greet(endpoint.port), await greet(endpoint.port)];
      assert.deepEqual(
        idle.map(({ isGreeted }) => isGreeted),
        [true, true, true],
      );
      assert.equal((await greet(endpoint.port)).isGreeted, false);
      for (const { socket } of idle) socket.destroy();
      await until(async () => {
        const { socket, isGreeted } = await greet(endpoint.port);
        socket.destroy();
        return isGreeted;
      });
      const one = await connect(endpoint.port, { username, key });
      await assert.rejects(connect(endpoint.port, { username, key }), /authentication/i);
      const answers: string[] = [];
      for (let tries = 0; tries < 10 && !answers.at(-1)?.includes("closed"); tries++) {
        const failed = await connect(endpoint.port, { username, key: makeKey() }).catch(
          (error: Error) => error,
        );
        answers.push(String(failed));
      }
      assert.match(answers.at(-1) ?? "", /closed/, answers.join("; "));
      await one.closed;
    } finally {
      await endpoint.stop();
    }
  });

  test("while the external face is away nothing is taken as done", async () => {
    const { stack, key, username } = fixture();
    const relay = await openRelay(stack.file().external_base_url);
    const endpoint = await startEndpoint(stack, { SVC_EXTERNAL_URL: relay.url });
    try {
      const client = await connect(endpoint.port, { username, key });
      await client.write("/away.txt", "there");
      const handle = await client.ask<Buffer>("open", "/away.txt", "w");
      await client.ask("write", handle, Buffer.from("lost"), 0, 4, 0);
      relay.cut();
      const refusal = { code: failure, message: /cannot be reached/ };
      await assert.rejects(client.ask("close", handle), refusal);
      await assert.rejects(client.ask("mkdir", "/lost"), refusal);
      await assert.rejects(client.list("/"), refusal);
      client.end();
    } finally {
      relay.cut();
      await endpoint.stop();
    }
    const { port } = fixture();
    const client = await connect(port, { username, key });
    assert.equal((await client.read("/away.txt")).toString(), "there");
    await client.ask("unlink", "/away.txt");
    client.end();
  });

  test("while identity can't be asked a client is disconnected, never told that its key is wrong", async () => {
    const { stack, key, username } = fixture();
    const relay = await openRelay(stack.file().internal_base_url);
    const endpoint = await startEndpoint(stack, { SVC_API_BASE_URL: relay.url });
    relay.cut();
    try {
      await assert.rejects(connect(endpoint.port, { username, key }), /closed/);
    } finally {
      await endpoint.stop();
    }
  });
}
