// Subjects and streams of the mesh (docs/reference/mesh.md#subjects).

import type { Owner, ServiceName } from "../caller.ts";
import type { AnyContract, EventContract } from "../contract.ts";
import type { View } from "../view.ts";

/** `svc.rpc.<owner>.<noun>.<verb>` */
export function rpcSubject(contract: Pick<AnyContract, "subject">): string {
  return `svc.rpc.${contract.subject}`;
}

/** The same request for one replica of the owner: `svc.rpc.<owner>.<noun>.<verb>.<instance>`. */
export function instanceSubject(contract: Pick<AnyContract, "subject">, instance: string): string {
  return `${rpcSubject(contract)}.${instance}`;
}

/** Every request for one replica. */
export function instanceFilter(owner: ServiceName | "operator", instance: string): string {
  return `svc.rpc.${owner}.*.*.${instance}`;
}

/** Where a replica says that it is there: `svc.replica.<owner>.<instance>`. */
export function replicaSubject(owner: ServiceName | "operator", instance: string): string {
  return `svc.replica.${owner}.${instance}`;
}

/** `svc.evt.<owner>.<noun>.<past participle>.<key>`; the key must be subject-safe. */
export function eventSubject<D>(contract: EventContract<D>, data: D): string {
  const key = contract.key(data);
  if (!/^[A-Za-z0-9_-]+$/.test(key))
    throw new Error(`event ${contract.subject}: key ${JSON.stringify(key)} is not subject-safe`);
  return `svc.evt.${contract.subject}.${key}`;
}

/** Subject filter for every event of a contract. */
export function eventFilter(contract: Pick<EventContract, "subject">): string {
  return `svc.evt.${contract.subject}.*`;
}

/** JetStream stream of an owner: `ops-watchdog` keeps its events in `OPS_WATCHDOG`. */
export function streamName(owner: Owner): string {
  return owner.toUpperCase().replaceAll("-", "_");
}

/** Subjects kept in an owner's stream: its events and the messages that its consumers gave up. */
export function streamSubjects(owner: Owner): string[] {
  return [`svc.evt.${owner}.>`, `svc.dead.${owner}.>`];
}

/** Where a consumer puts a message that it will never manage. */
export function deadSubject(service: ServiceName, durable: string): string {
  return `svc.dead.${service}.${durable}`;
}

/** Replies come back under a prefix of the caller's own, so that no service can read another's. */
export function inboxPrefix(service: string): string {
  return `_INBOX_${service.replaceAll("-", "_")}`;
}

/** Live lines of an event stream (console, build log), for example `svc.live.lifecycle.console.survival`. */
export function liveSubject(owner: Owner, noun: string, key: string): string {
  return `svc.live.${owner}.${noun}.${key}`;
}

/** Says up to which sequence an owner has just stored live lines. */
export function liveNoticeSubject(owner: Owner): string {
  return `svc.live-notice.${owner}`;
}

/** Where a reader of a view says that somebody asks for what depends on its age. */
export function viewUseSubject(view: Pick<View, "name">): string {
  return `svc.view-use.${view.name}`;
}
