// Calls the owner of a contract (docs/reference/mesh.md#back-pressure).

import { type AnyContract, Fault, type InputOf, isFault, type OutputOf, parseNewer } from "@svc/proto";
import type { CallOptions, RawReply } from "../api.ts";
import { ConnectionError } from "../connection/connection-error.ts";
import type { Core } from "../core.ts";
import { encodeJson, textOf } from "../json.ts";
import type { ContractMeter } from "../metrics.ts";
import { type Request, sendToReplicas } from "./attempts.ts";
import type { Replicas } from "./replicas.ts";
import { envelopeOf } from "./wire.ts";

type Calling = {
  call: <C extends AnyContract>(
    contract: C,
    input: InputOf<C>,
    options?: CallOptions,
  ) => Promise<OutputOf<C>>;
  forward: <C extends AnyContract>(
    contract: C,
    input: InputOf<C>,
    options?: CallOptions,
  ) => Promise<RawReply>;
};

/** `call` and `forward` of a mesh. */
export function createCalling(core: Core, replicas: Replicas): Calling {
  const meters = new WeakMap<AnyContract, ContractMeter>();
  const meterOf = (contract: AnyContract): ContractMeter => {
    const known = meters.get(contract);
    if (known) return known;
    const made = core.metrics.called(contract.subject);
    meters.set(contract, made);
    return made;
  };

  const send: Calling["forward"] = async (contract, input, options = {}) => {
    const meter = meterOf(contract);
    const envelope = envelopeOf(options, core.service, contract.deadlineMs);
    meter.started();
    const request: Request = { contract, body: encodeJson(input), envelope, signal: options.signal };
    try {
      const reply = await sendToReplicas(core, replicas, request);
      meter.ended("ok");
      return reply;
    } catch (error) {
      const fault = faultOf(core, request, error);
      meter.ended(fault.fault);
      throw fault;
    }
  };

  const forward: Calling["forward"] = (contract, input, options = {}) => {
    const { tracing } = core;
    if (!tracing.isOn) return send(contract, input, options);
    const attributes = { "rpc.system": "nats", "rpc.method": contract.subject };
    const about = { kind: "client", parent: options.traceparent, attributes } as const;
    return tracing.run(`call ${contract.subject}`, about, (traceparent) =>
      send(contract, input, { ...options, ...(traceparent !== undefined && { traceparent }) }),
    );
  };

  const call: Calling["call"] = async <C extends AnyContract>(
    contract: C,
    input: InputOf<C>,
    options?: CallOptions,
  ): Promise<OutputOf<C>> => {
    const reply = await forward(contract, input, options);
    return checkOutput(core, contract, reply.body) as OutputOf<C>;
  };
  return { call, forward };
}

function checkOutput(core: Core, contract: AnyContract, body: Uint8Array): unknown {
  try {
    return parseNewer(contract.output, JSON.parse(textOf(body)));
  } catch (error) {
    core.log.error(
      { subject: contract.subject, err: error },
      "the owner's reply does not match the contract",
    );
    throw new Fault("internal", { cause: error });
  }
}

function faultOf(core: Core, request: Request, error: unknown): Fault {
  if (isFault(error)) return error;
  const { contract, envelope } = request;
  const about = { subject: contract.subject, request_id: envelope.requestId };
  if (!(error instanceof ConnectionError)) {
    core.log.error({ ...about, err: error }, "the owner's reply cannot be decoded");
    return new Fault("internal", { cause: error });
  }
  if (error.kind !== "too-large") return new Fault("unavailable", { cause: error });
  core.log.error(about, "a request exceeds the payload limit of NATS; use a byte transfer");
  return new Fault("internal", { cause: error });
}
