import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { resolve } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { testProgram } from "@svc/config/test-program";

const program = testProgram(resolve(import.meta.dirname, "../testing/host-main.ts"));

// As a server that is stopped: the kernel accepts connections, and nobody says a word.
const sockets = new Set<Socket>();
const silent = createServer((socket) => void sockets.add(socket));
before(async () => {
  await once(silent.listen(0, "127.0.0.1"), "listening");
});
after(() => {
  for (const socket of sockets) socket.destroy();
  silent.close();
});

const table: [server: string, command: object, variables: (address: string) => object, says: RegExp][] = [
  [
    "NATS",
    { do: "offsite-verify" },
    (address) => ({ SVC_OPERATOR_NATS_URL: `nats://operator:x@${address}` }),
    /NATS at .* could not be reached/,
  ],
  [
    "PostgreSQL",
    { do: "back-up", label: "manual" },
    (address) => ({ SVC_ADMIN_DATABASE_URL: `postgres://svc@${address}/svc` }),
    /^the database does not respond$/m,
  ],
];
for (const [server, command, variables, says] of table)
  test(`a failure ends the process although ${server} holds its connection open`, async () => {
    const { port } = silent.address() as AddressInfo;
    const env = { ...process.env, ...variables(`127.0.0.1:${port}`) };
    const child = spawn(process.execPath, [program], { env, stdio: ["pipe", "pipe", "pipe"] });
    child.stdin.end(JSON.stringify(command));
    const ended = once(child, "exit");
    const [out, error, [code]] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
    assert.deepEqual([code, out], [1, ""]);
    assert.match(error, says);
    assert.ok(sockets.size > 0);
  });
