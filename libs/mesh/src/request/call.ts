// Asking the owner of a contract (architecture.md 3, back-pressure).

import { setTimeout as delay } from "node:timers/promises";
import type { Msg } from "@nats-io/transport-node";
import { type AnyContract, Fault, type InputOf, isFault, type OutputOf, rpcSubject } from "@svc/proto";
import type { CallOptions, RawReply } from "../api.ts";
import { LinkError } from "../connection/link.ts";
import type { Core } from "../core.ts";
import type { ContractMeter } from "../metrics.ts";
import { decodeReply, type Envelope, encodeEnvelope, encodeJson, envelopeOf, textOf } from "./wire.ts";

const moreTries = 2;
const jitterMs = { least: 50, most: 200 };

type Prepared = { subject: string; meter: ContractMeter };

export type Calling = {
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
export function createCalling(core: Core): Calling {
  const prepared = new WeakMap<AnyContract, Prepared>();
  const prepare = (contract: AnyContract): Prepared => {
    const known = prepared.get(contract);
    if (known) return known;
    const made = { subject: rpcSubject(contract), meter: core.metrics.called(contract.subject) };
    prepared.set(contract, made);
    return made;
  };

  const forward: Calling["forward"] = async (contract, input, options = {}) => {
    const { subject, meter } = prepare(contract);
    const envelope = envelopeOf(options, core.service, contract.deadlineMs);
    meter.started();
    try {
      const reply = await sendWithRetries(core, {
        contract,
        subject,
        body: encodeJson(input),
        envelope,
        signal: options.signal,
      });
      meter.ended("ok");
      return reply;
    } catch (error) {
      const fault = isFault(error) ? error : new Fault("internal", { cause: error });
      meter.ended(fault.fault);
      throw fault;
    }
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
    return contract.output.parse(JSON.parse(textOf(body)));
  } catch (error) {
    core.log.error({ subject: contract.subject, err: error }, "the owner's reply does not fit the contract");
    throw new Fault("internal", { cause: error });
  }
}

type Request = {
  contract: AnyContract;
  subject: string;
  body: Uint8Array;
  envelope: Envelope;
  signal: AbortSignal | undefined;
};

async function sendWithRetries(core: Core, request: Request): Promise<RawReply> {
  const { contract, envelope, signal } = request;
  const headers = encodeEnvelope(envelope);
  for (let tries = 0; ; tries++) {
    if (envelope.deadlineAt <= Date.now()) throw new Fault("unavailable");
    try {
      return decodeReply(await send(core, request, headers));
    } catch (error) {
      const mayRepeat = contract.idempotent && tries < moreTries && isWorthRepeating(error);
      const waitMs = jitterMs.least + Math.random() * (jitterMs.most - jitterMs.least);
      if (!mayRepeat || Date.now() + waitMs >= envelope.deadlineAt || signal?.aborted)
        throw faultOf(core, request, error);
      await delay(waitMs);
    }
  }
}

function send(core: Core, request: Request, headers: Uint8Array): Promise<Msg> {
  return core.link.request({
    subject: request.subject,
    body: request.body,
    headers,
    deadlineAt: request.envelope.deadlineAt,
    signal: request.signal,
  });
}

// Nothing was done in these cases, or the operation may be repeated anyway.
function isWorthRepeating(error: unknown): boolean {
  if (error instanceof LinkError) return error.kind === "no-responder" || error.kind === "lost";
  return isFault(error) && error.fault === "overloaded";
}

function faultOf(core: Core, request: Request, error: unknown): Fault {
  if (isFault(error)) return error;
  const { contract, envelope } = request;
  const about = { subject: contract.subject, request_id: envelope.requestId };
  if (!(error instanceof LinkError)) {
    core.log.error({ ...about, err: error }, "the owner's reply cannot be read");
    return new Fault("internal", { cause: error });
  }
  if (error.kind !== "too-large") return new Fault("unavailable", { cause: error });
  core.log.error(about, "a request is over the payload limit of NATS; send the bytes through a lane");
  return new Fault("internal", { cause: error });
}
