// NATS users and what each may publish and subscribe, derived from the contracts (docs/reference/mesh.md#trust).

import { type Owner, owners, type ServiceName } from "../caller.ts";
import { buckets, contracts, events, views } from "../catalog.ts";
import type { Bucket } from "../contract.ts";
import { durables } from "../durable.ts";
import type { View } from "../view.ts";
import {
  eventFilter,
  inboxPrefix,
  instanceSubject,
  liveNoticeSubject,
  replicaSubject,
  rpcSubject,
  streamName,
  viewUseSubject,
} from "./subjects.ts";

export type Permissions = { publish: string[]; subscribe: string[] };

function isOwner(service: ServiceName): service is Owner {
  return (owners as readonly string[]).includes(service);
}

/**
 * Everything one service may do on NATS. It answers in the inboxes of its callers and nowhere else: the server's own
 * leave to answer (`allow_responses`) would reach any subject that a message names, one of the service's own included.
 * It makes and changes nothing in JetStream, for what a consumer or a stream does is no longer checked.
 * `moreBuckets` are buckets that the catalog does not have, for tests.
 */
export function permissionsOf(service: ServiceName, moreBuckets: readonly Bucket[] = []): Permissions {
  const publish = new Set<string>(["$JS.API.INFO"]);
  const subscribe = new Set<string>([`${inboxPrefix(service)}.>`]);
  // Questions to every service and to this one; a service cannot answer in another's name.
  for (const verb of ["PING", "INFO", "STATS"])
    for (const rest of ["", `.${service}`, `.${service}.*`]) subscribe.add(`$SRV.${verb}${rest}`);
  for (const contract of contracts) {
    if (contract.owner === service)
      for (const caller of contract.callers) publish.add(`${inboxPrefix(caller)}.>`);
    if (!contract.callers.includes(service)) continue;
    publish.add(rpcSubject(contract));
    publish.add(instanceSubject(contract, "*"));
    subscribe.add(replicaSubject(contract.owner, "*"));
  }
  // Every service answers the services protocol; the watchdog asks who is there.
  publish.add(`${inboxPrefix("operator")}.>`);
  publish.add(`${inboxPrefix("ops-watchdog")}.>`);
  if (service === "ops-watchdog") publish.add("$SRV.STATS");
  publish.add(`svc.audit.${service}`);
  if (isOwner(service)) addOwner(service, publish, subscribe);
  for (const bucket of [...buckets, ...moreBuckets]) {
    if (bucket.owner === service) addKeyValue(bucket, publish, subscribe);
  }
  addReader(service, publish, subscribe);
  addDurables(service, publish);
  for (const event of events) if (event.listeners.includes(service)) subscribe.add(eventFilter(event));
  return { publish: [...publish].sort(), subscribe: [...subscribe].sort() };
}

function addOwner(service: Owner, publish: Set<string>, subscribe: Set<string>): void {
  const stream = streamName(service);
  subscribe.add(`svc.rpc.${service}.>`);
  publish.add(replicaSubject(service, "*"));
  subscribe.add(replicaSubject(service, "*"));
  publish.add(`svc.evt.${service}.>`);
  publish.add(`svc.dead.${service}.>`);
  publish.add(`svc.live.${service}.>`);
  publish.add(liveNoticeSubject(service));
  for (const own of [stream, `${stream}_LIVE`]) publish.add(`$JS.API.STREAM.INFO.${own}`);
  // Where the last writer of live lines was.
  publish.add(`$JS.API.DIRECT.GET.${stream}_LIVE.svc.live.${service}.>`);
  if (service === "identity") publish.add("$JS.API.STREAM.INFO.AUDIT");
  for (const view of views) {
    if (view.owner !== service) continue;
    addKeyValue(view, publish, subscribe);
    subscribe.add(viewUseSubject(view));
  }
}

function addKeyValue({ name, type }: Bucket | View, publish: Set<string>, subscribe: Set<string>): void {
  publish.add(`$KV.${name}.>`);
  if (type === "bucket") publish.add(`$JS.API.DIRECT.GET.KV_${name}.$KV.${name}.>`);
  addStreamReader(`KV_${name}`, publish);
  subscribe.add(`$KV.${name}.>`);
}

function addReader(service: ServiceName, publish: Set<string>, subscribe: Set<string>): void {
  for (const view of views) {
    if (!view.readers.includes(service)) continue;
    addStreamReader(`KV_${view.name}`, publish);
    subscribe.add(`$KV.${view.name}.>`);
    publish.add(viewUseSubject(view));
  }
  if (service === "gateway-external" || service === "gateway-internal") {
    // Gateways of the version before listen to the lines themselves.
    subscribe.add("svc.live.>");
    for (const owner of owners) {
      subscribe.add(liveNoticeSubject(owner));
      addStreamReader(`${streamName(owner)}_LIVE`, publish);
    }
  }
}

// A mirror or a viewer reads what is stored in batches; a plain subscription tells it when there is more.
function addStreamReader(stream: string, publish: Set<string>): void {
  publish.add(`$JS.API.STREAM.INFO.${stream}`);
  publish.add(`$JS.API.DIRECT.GET.${stream}`);
}

function addDurables(service: ServiceName, publish: Set<string>): void {
  for (const { name, stream, service: reader } of durables) {
    if (reader !== service) continue;
    publish.add(`$JS.API.CONSUMER.INFO.${stream}.${name}`);
    publish.add(`$JS.API.CONSUMER.MSG.NEXT.${stream}.${name}`);
    publish.add(`$JS.ACK.${stream}.${name}.>`);
  }
}
