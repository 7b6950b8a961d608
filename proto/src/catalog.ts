// The whole of what svc offers, in one list. A new contract file is added here and nowhere else.

import type { AnyContract, EventContract, Owner, ProcessOperation, ServiceName, View } from "./contract.ts";
import * as process from "./gateway/process.ts";
import * as account from "./identity/account.ts";
import * as server from "./lifecycle/server.ts";

const nouns: readonly Record<string, unknown>[] = [process, server, account];

function collect<T extends { type: string }>(type: T["type"]): T[] {
  const isWanted = (value: unknown): value is T =>
    typeof value === "object" && value !== null && "type" in value && value.type === type;
  return nouns.flatMap((noun) => Object.values(noun).filter(isWanted));
}

/** Every request contract, operations among them. */
export const contracts: readonly AnyContract[] = collect<AnyContract>("request");
/** Those that HTTP callers reach. */
export const operations = contracts.filter((contract): contract is Operation => contract.http !== undefined);
export type Operation = AnyContract & { http: NonNullable<AnyContract["http"]> };
/** Those that each gateway answers about itself. */
export const processOperations: readonly ProcessOperation[] = collect<ProcessOperation>("process");
export const events: readonly EventContract[] = collect<EventContract>("event");
export const views: readonly View[] = collect<View>("view");

/** Consumers of events that are kept by name: durable, whose stream, which subjects (architecture.md 3). */
export type Durable = { name: string; service: ServiceName; stream: string; subjects: readonly string[] };
export const durables: readonly Durable[] = [
  { name: "identity-audit", service: "identity", stream: "AUDIT", subjects: ["svc.audit.>"] },
];

/** Contracts that one service answers. */
export function contractsOf(owner: Owner): readonly AnyContract[] {
  return contracts.filter((contract) => contract.owner === owner);
}
