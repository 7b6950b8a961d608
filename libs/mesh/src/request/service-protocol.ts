// The NATS services protocol ($SRV.PING|INFO|STATS), so that `nats micro ls|info|stats` shows svc (docs/reference/mesh.md#subjects).

import { type AnyContract, inboxPrefix } from "@svc/proto";
import { z } from "zod";
import type { Listening } from "../connection/nats-connection.ts";
import type { Core } from "../core.ts";
import { encodeJson } from "../json.ts";
import { type Endpoint, endpointName } from "./endpoint.ts";

const responseType = {
  PING: "io.nats.micro.v1.ping_response",
  INFO: "io.nats.micro.v1.info_response",
  STATS: "io.nats.micro.v1.stats_response",
} as const;
type Verb = keyof typeof responseType;
const roomForTheRestBytes = 65_536;
// An answer to anybody else could be directed to a subject that this service may write and the asker may not.
const inboxes = (["operator", "ops-watchdog"] as const).map((caller) => `${inboxPrefix(caller)}.`);

/** Starts answering for this process; resolves when the server has the subscriptions. */
export async function announce(core: Core, endpoints: ReadonlyMap<string, Endpoint>): Promise<() => void> {
  const started = new Date().toISOString();
  const common = { name: core.service, id: core.instance, version: core.version, metadata: {} };
  const endpointInfo = lazily(() => describeAll(core, [...endpoints.values()]));
  const bodies: Record<Verb, () => unknown> = {
    PING: () => common,
    INFO: () => ({ ...common, description: `svc ${core.service}`, endpoints: endpointInfo() }),
    STATS: () => ({
      ...common,
      started,
      endpoints: [...endpoints.values()].map((endpoint) => measure(core, endpoint)),
    }),
  };
  const subscriptions: Listening[] = [];
  for (const verb of Object.keys(responseType) as Verb[]) {
    const answer = () => encodeJson({ type: responseType[verb], ...(bodies[verb]() as object) });
    for (const subject of [
      `$SRV.${verb}`,
      `$SRV.${verb}.${core.service}`,
      `$SRV.${verb}.${core.service}.${core.instance}`,
    ]) {
      subscriptions.push(
        core.connection.subscribe(subject, (message) => {
          const { reply } = message;
          if (reply && inboxes.some((inbox) => reply.startsWith(inbox)))
            core.connection.tryPublish(reply, answer());
        }),
      );
    }
  }
  await core.connection.client.flush();
  return () => {
    for (const subscription of subscriptions) subscription.unsubscribe();
  };
}

function lazily<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

// Clients of the protocol expect one message: schemas that do not fit into it are omitted.
function describeAll(core: Core, endpoints: readonly Endpoint[]): object[] {
  const whole = endpoints.map((endpoint) => describe(core, endpoint, true));
  if (encodeJson(whole).length < core.connection.maxPayloadBytes() - roomForTheRestBytes) return whole;
  return endpoints.map((endpoint) => describe(core, endpoint, false));
}

function describe(core: Core, endpoint: Endpoint, withSchemas: boolean): object {
  const { contract } = endpoint;
  const schemas = {
    request_schema: schemaText(contract, "input"),
    response_schema: schemaText(contract, "output"),
  };
  return {
    name: endpointName(contract),
    subject: endpoint.subject,
    queue_group: core.service,
    metadata: {
      summary: contract.summary,
      spec: contract.spec,
      deadline_ms: String(contract.deadlineMs),
      idempotent: String(contract.idempotent),
      faults: contract.faults.join(" "),
      ...(withSchemas ? schemas : {}),
    },
  };
}

function schemaText(contract: AnyContract, side: "input" | "output"): string {
  return JSON.stringify(z.toJSONSchema(contract[side], { io: side, unrepresentable: "any" }));
}

function measure(core: Core, endpoint: Endpoint): object {
  const { requests, errors, lastError, processingNs } = endpoint.stats;
  return {
    name: endpointName(endpoint.contract),
    subject: endpoint.subject,
    queue_group: core.service,
    num_requests: requests,
    num_errors: errors,
    last_error: lastError,
    processing_time: processingNs,
    average_processing_time: requests === 0 ? 0 : Math.round(processingNs / requests),
  };
}
