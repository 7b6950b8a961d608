// NATS users and what each may publish and subscribe, derived from the contracts (architecture.md 3, trust).

import { contracts, durables, views } from "../catalog.ts";
import { type Owner, owners, type ServiceName } from "../contract.ts";
import { inboxPrefix, rpcSubject, streamName } from "./subjects.ts";

export type Permissions = { publish: string[]; subscribe: string[] };

function isOwner(service: ServiceName): service is Owner {
  return (owners as readonly string[]).includes(service);
}

/** Everything one service may do on NATS; replies to requests it serves are allowed by the server besides. */
export function permissionsOf(service: ServiceName): Permissions {
  const publish = new Set<string>(["$JS.API.INFO", "$SRV.>"]);
  const subscribe = new Set<string>([`${inboxPrefix(service)}.>`, "$SRV.>"]);
  for (const contract of contracts) {
    if (contract.callers.includes(service)) publish.add(rpcSubject(contract));
  }
  publish.add(`svc.audit.${service}`);
  if (isOwner(service)) addOwner(service, publish, subscribe);
  addReader(service, publish, subscribe);
  addDurables(service, publish);
  if (service === "gateway-external") subscribe.add("svc.evt.identity.session.revoked.*");
  return { publish: [...publish].sort(), subscribe: [...subscribe].sort() };
}

function addOwner(service: Owner, publish: Set<string>, subscribe: Set<string>): void {
  const stream = streamName(service);
  subscribe.add(`svc.rpc.${service}.>`);
  publish.add(`svc.evt.${service}.>`);
  publish.add(`svc.dead.${service}.>`);
  publish.add(`svc.live.${service}.>`);
  for (const verb of ["CREATE", "UPDATE", "INFO"]) publish.add(`$JS.API.STREAM.${verb}.${stream}`);
  for (const verb of ["CREATE", "UPDATE", "INFO"]) publish.add(`$JS.API.STREAM.${verb}.${stream}_LIVE`);
  if (service === "identity")
    for (const verb of ["CREATE", "UPDATE", "INFO"]) publish.add(`$JS.API.STREAM.${verb}.AUDIT`);
  for (const view of views) {
    if (view.owner !== service) continue;
    for (const verb of ["CREATE", "UPDATE", "INFO", "PURGE"])
      publish.add(`$JS.API.STREAM.${verb}.KV_${view.name}`);
    publish.add(`$KV.${view.name}.>`);
    addMirror(view.name, publish);
  }
}

function addReader(service: ServiceName, publish: Set<string>, subscribe: Set<string>): void {
  for (const view of views) {
    if (view.readers.includes(service)) addMirror(view.name, publish);
  }
  if (service === "gateway-external" || service === "gateway-internal") {
    subscribe.add("svc.live.>");
    for (const owner of owners) addStreamReader(`${streamName(owner)}_LIVE`, publish);
  }
}

// A mirror is an ordered consumer: it looks the stream up, makes a consumer of its own and drops it again.
function addMirror(bucket: string, publish: Set<string>): void {
  addStreamReader(`KV_${bucket}`, publish);
  publish.add(`$JS.API.DIRECT.GET.KV_${bucket}.>`);
}

function addStreamReader(stream: string, publish: Set<string>): void {
  publish.add(`$JS.API.STREAM.INFO.${stream}`);
  publish.add(`$JS.API.STREAM.MSG.GET.${stream}`);
  for (const verb of ["CREATE", "DELETE", "INFO"]) publish.add(`$JS.API.CONSUMER.${verb}.${stream}.>`);
  publish.add(`$JS.API.CONSUMER.CREATE.${stream}`);
  publish.add(`$JS.API.CONSUMER.MSG.NEXT.${stream}.>`);
  publish.add(`$JS.ACK.${stream}.>`);
  publish.add("$JS.FC.>");
}

function addDurables(service: ServiceName, publish: Set<string>): void {
  for (const durable of durables) {
    if (durable.service !== service) continue;
    publish.add(`$JS.API.STREAM.INFO.${durable.stream}`);
    for (const verb of ["CREATE", "DURABLE.CREATE"])
      publish.add(`$JS.API.CONSUMER.${verb}.${durable.stream}.${durable.name}`);
    publish.add(`$JS.API.CONSUMER.CREATE.${durable.stream}.${durable.name}.>`);
    publish.add(`$JS.API.CONSUMER.INFO.${durable.stream}.${durable.name}`);
    publish.add(`$JS.API.CONSUMER.MSG.NEXT.${durable.stream}.${durable.name}`);
    publish.add(`$JS.ACK.${durable.stream}.${durable.name}.>`);
  }
}
