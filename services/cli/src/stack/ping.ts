import { once } from "node:events";
import { connect } from "node:net";

// Handshake (packet 0: protocol 769, host "svc", port 25565, next state: status) and the status request, both with length.
const question = Buffer.from([10, 0, 0x81, 0x06, 3, 0x73, 0x76, 0x63, 0x63, 0xdd, 1, 1, 0]);

/** Sends a status ping to a Minecraft port; any answer is fine. Throws when there is none in time. */
export async function pingGame(
  { host, port }: { host: string; port: number },
  withinMs: number,
): Promise<string> {
  const socket = connect({ host, port });
  const timer = setTimeout(() => socket.destroy(new Error(`does not answer at ${host}:${port}`)), withinMs);
  try {
    const answered = once(socket, "data");
    socket.write(question);
    await answered;
    return `answers at ${host}:${port}`;
  } finally {
    clearTimeout(timer);
    socket.destroy();
  }
}
