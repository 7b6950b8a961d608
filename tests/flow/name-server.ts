// A name server that leads every name below a domain to this machine, and no other anywhere.

import { createSocket } from "node:dgram";
import { once } from "node:events";

type NameServer = { address: string; stop: () => void };

export async function startNameServer(domain: string): Promise<NameServer> {
  const socket = createSocket("udp4");
  socket.on("message", (query, { port, address }) => socket.send(answerTo(query, domain), port, address));
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  return { address: `127.0.0.1:${socket.address().port}`, stop: () => socket.close() };
}

/** One question (RFC 1035, 4.1): 127.0.0.1 for A, nothing for AAAA, NXDOMAIN outside of the domain. */
function answerTo(query: Buffer, domain: string): Buffer {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  const end = at + 5;
  const isOurs = labels.join(".").toLowerCase().endsWith(`.${domain}`);
  const hasAddress = isOurs && query.readUInt16BE(at + 1) === 1;
  const header = Buffer.from(query.subarray(0, 12));
  header.writeUInt16BE(isOurs ? 0x8180 : 0x8183, 2);
  header.writeUInt16BE(hasAddress ? 1 : 0, 6);
  header.writeUInt16BE(0, 8);
  header.writeUInt16BE(0, 10);
  const address = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 127, 0, 0, 1]);
  return Buffer.concat([header, query.subarray(12, end), ...(hasAddress ? [address] : [])]);
}
