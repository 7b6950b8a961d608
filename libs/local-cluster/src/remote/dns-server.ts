// Names of Services for pods with a network of their own: what CoreDNS answers in a cluster, of IPv4 addresses only.

import { createSocket } from "node:dgram";
import { once } from "node:events";
import type { Source } from "../controllers/informer.ts";
import type { Service } from "../controllers/network/service-index.ts";
import type { Endpoints } from "../node/service-proxy.ts";

type Sources = { services: Source<Service>; endpoints: Source<Endpoints> };

const zone = ".svc.cluster.local";
const headerBytes = 12;
const types = { A: 1 };
const ttlSeconds = 5;
const maxAddresses = 8;

/** Addresses of `service.namespace.svc.cluster.local` or `pod.service…`; undefined when there is no such name. */
export function addressesOf(name: string, { services, endpoints }: Sources): string[] | undefined {
  const plain = name.toLowerCase().replace(/\.$/, "");
  if (!plain.endsWith(zone)) return undefined;
  const [namespace = "", service = "", pod, ...rest] = plain.slice(0, -zone.length).split(".").reverse();
  const key = `${namespace}/${service}`;
  const found = services.get(key);
  if (found === undefined || rest.length > 0) return undefined;
  const { clusterIP = "None" } = found.spec;
  if (clusterIP !== "None" && pod === undefined) return [clusterIP];
  const all = (endpoints.get(key)?.subsets ?? []).flatMap(({ addresses = [] }) => addresses);
  const fitting = all.filter((one) => pod === undefined || (one as { hostname?: string }).hostname === pod);
  return pod !== undefined && fitting.length === 0 ? undefined : fitting.map(({ ip }) => ip);
}

type Question = { name: string; type: number; end: number };

function questionOf(query: Buffer): Question | undefined {
  const labels: string[] = [];
  let at = headerBytes;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    if (length > 63 || at + 1 + length >= query.length) return undefined;
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  if (at + 5 > query.length) return undefined;
  return { name: labels.join("."), type: query.readUInt16BE(at + 1), end: at + 5 };
}

/** The answer to one query (RFC 1035); undefined for what is none. */
export function answerOf(query: Buffer, sources: Sources): Buffer | undefined {
  const question = query.length > headerBytes ? questionOf(query) : undefined;
  if (question === undefined) return undefined;
  const found = addressesOf(question.name, sources);
  const addresses = question.type === types.A ? (found ?? []).slice(0, maxAddresses) : [];
  const header = Buffer.alloc(headerBytes);
  query.copy(header, 0, 0, 2);
  const recursionDesired = (query[2] ?? 0) & 0x01;
  const noSuchName = 3;
  header.writeUInt16BE(0x8480 | (recursionDesired << 8) | (found === undefined ? noSuchName : 0), 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(addresses.length, 6);
  const records = addresses.map((address) => {
    const record = Buffer.alloc(16);
    record.writeUInt16BE(0xc000 | headerBytes, 0);
    record.writeUInt16BE(types.A, 2);
    record.writeUInt16BE(1, 4);
    record.writeUInt32BE(ttlSeconds, 6);
    record.writeUInt16BE(4, 10);
    address.split(".").forEach((part, index) => void record.writeUInt8(Number(part), 12 + index));
    return record;
  });
  return Buffer.concat([header, query.subarray(headerBytes, question.end), ...records]);
}

export async function startDnsServer(address: string, sources: Sources): Promise<{ close(): void }> {
  const socket = createSocket("udp4");
  socket.on("message", (query, from) => {
    const answer = answerOf(query, sources);
    if (answer !== undefined) socket.send(answer, from.port, from.address);
  });
  socket.bind(53, address);
  await once(socket, "listening");
  // Also after the start: an answer that cannot be sent must not end the process.
  socket.on("error", () => undefined);
  return { close: () => void socket.close() };
}
