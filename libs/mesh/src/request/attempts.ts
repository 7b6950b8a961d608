// One request, sent to one replica of its owner after another until an answer is there (ADR 0014).

import type { Msg } from "@nats-io/transport-node";
import { type AnyContract, Fault, instanceSubject, isFault, rpcSubject } from "@svc/proto";
import type { RawReply } from "../api.ts";
import { ConnectionError } from "../connection/connection-error.ts";
import { randomToken } from "../connection/random-token.ts";
import type { Core } from "../core.ts";
import { quietMs, type Replicas } from "./replicas.ts";
import { decodeReply, type Envelope, encodeEnvelope } from "./wire.ts";

/** An owner that was silent for this long about a request that may not be repeated is given up. */
export const lostMs = 2_000;
const longDeadlineMs = 20_000;
const mostTries = 3;
const mostDelays = 2;
const jitterMs = { least: 50, most: 200 };

export type Request = {
  contract: AnyContract;
  body: Uint8Array;
  envelope: Envelope;
  signal: AbortSignal | undefined;
};

export type Waiting = {
  /** `by-id`: the owner answers a repeat with the first outcome. */
  mayRepeat: boolean | "by-id";
  /** As in the contract. */
  tryMs: number;
  deadlineMs: number;
  sinceSentMs: number;
  quietMs: number;
  /** Another try was begun because of this one. */
  hasNext: boolean;
  /** A replica is heard that was not asked yet. */
  hasOther: boolean;
  triesLeft: number;
};

/** What to do about a try without an answer. `again` leaves it to NATS who is asked: all that were heard are silent. */
export function decideWait(seen: Waiting): "wait" | "ask-other" | "ask-again" | "give-up" {
  const isLost = seen.quietMs >= lostMs;
  if (!seen.mayRepeat) return isLost ? "give-up" : "wait";
  if (seen.mayRepeat === "by-id" && isLost && !seen.hasNext && !seen.hasOther) return "give-up";
  if (seen.hasNext || seen.triesLeft === 0) return "wait";
  // A change that is worked on would only have to wait for itself at another replica.
  const isSlow = seen.mayRepeat === true && seen.sinceSentMs >= seen.tryMs;
  if ((isSlow || seen.quietMs >= quietMs) && seen.hasOther) return "ask-other";
  if (!isLost) return "wait";
  return seen.deadlineMs > longDeadlineMs ? "give-up" : "ask-again";
}

type Try = { instance: string | undefined; forget: () => void; hasNext: boolean; quietMs: number };

type Run = {
  core: Core;
  replicas: Replicas;
  request: Request;
  mayRepeat: boolean | "by-id";
  onceId: string | undefined;
  tried: Set<string>;
  open: Set<Try>;
  begun: number;
  delays: number;
  resolve: (reply: RawReply) => void;
  reject: (error: unknown) => void;
};

/** Resolves with the first answer; rejects with the fault of the owner or with a `ConnectionError`. */
export function sendToReplicas(core: Core, replicas: Replicas, request: Request): Promise<RawReply> {
  const { idempotent, onceById } = request.contract;
  const mayRepeat = idempotent || (onceById && "by-id");
  const onceId = mayRepeat === "by-id" ? randomToken() : undefined;
  return new Promise((resolve, reject) => {
    const counts = { begun: 0, delays: 0 };
    const sets = { tried: new Set<string>(), open: new Set<Try>() };
    begin({ core, replicas, request, mayRepeat, onceId, ...sets, ...counts, resolve, reject });
  });
}

function begin(run: Run): void {
  const { contract, body, envelope, signal } = run.request;
  if (envelope.deadlineAt <= Date.now()) {
    fail(run, new Fault("unavailable"));
    return;
  }
  const instance = run.replicas.pick(contract.owner, run.tried);
  if (instance !== undefined) run.tried.add(instance);
  run.begun += 1;
  const current: Try = { instance, forget: () => {}, hasNext: false, quietMs: 0 };
  run.open.add(current);
  const forget = run.core.connection.ask(
    {
      subject: instance === undefined ? rpcSubject(contract) : instanceSubject(contract, instance),
      body,
      headers: headersOf(run),
      deadlineAt: envelope.deadlineAt,
      signal,
    },
    {
      onReply: (message) => onReply(run, current, message),
      onFailure: (error) => onFailure(run, current, error),
      onWait: (waited) => onWait(run, current, waited),
    },
  );
  // The request may have failed while it was sent.
  if (run.open.has(current)) current.forget = forget;
}

// A change is given up when its owner falls silent, and shall not be begun after that.
function headersOf({ request, mayRepeat, onceId, begun }: Run): Uint8Array {
  const { envelope } = request;
  if (mayRepeat === true) return encodeEnvelope(envelope);
  return encodeEnvelope(envelope, {
    beginBy: Math.min(envelope.deadlineAt, Date.now() + lostMs),
    ...(onceId !== undefined && { onceId, isRepeat: begun > 1 }),
  });
}

function onReply(run: Run, current: Try, message: Msg): void {
  let reply: RawReply;
  try {
    reply = decodeReply(message);
  } catch (error) {
    onFailure(run, current, error);
    return;
  }
  end(run);
  run.resolve(reply);
}

function onWait(run: Run, current: Try, waited: { sinceSentMs: number; quietMs: number }): void {
  const { contract } = run.request;
  current.quietMs = waited.quietMs;
  if (waited.quietMs >= quietMs && current.instance !== undefined)
    run.replicas.leaveOut(contract.owner, current.instance);
  const step = decideWait({
    ...waited,
    mayRepeat: run.mayRepeat,
    tryMs: contract.tryMs,
    deadlineMs: contract.deadlineMs,
    hasNext: current.hasNext,
    hasOther: hasOther(run),
    triesLeft: Math.max(0, mostTries - run.begun),
  });
  if (step === "give-up") {
    current.forget();
    onFailure(run, current, new ConnectionError("timeout", "the owner of the request has fallen silent"));
  } else if (step !== "wait") {
    current.hasNext = true;
    begin(run);
  }
}

function onFailure(run: Run, current: Try, error: unknown): void {
  run.open.delete(current);
  const isUndelivered = error instanceof ConnectionError && error.kind === "no-responder";
  if (isUndelivered && current.instance !== undefined) {
    run.replicas.leaveOut(run.request.contract.owner, current.instance);
    begin(run);
  } else if (!isFinal(error) && [...run.open].some((other) => other.quietMs < quietMs)) {
    // Another try may still be answered; of failures like these the last one counts.
    for (const other of run.open) other.hasNext = false;
  } else if (!run.mayRepeat || !isWorthRepeating(error)) {
    fail(run, error);
  } else if (isFault(error) && run.begun < mostTries && hasOther(run)) {
    begin(run);
  } else {
    beginLater(run, error);
  }
}

function hasOther({ replicas, request, tried }: Run): boolean {
  return replicas.hasOther(request.contract.owner, tried);
}

function beginLater(run: Run, error: unknown): void {
  const { envelope, signal } = run.request;
  const waitMs = jitterMs.least + Math.random() * (jitterMs.most - jitterMs.least);
  if (run.delays === mostDelays || Date.now() + waitMs >= envelope.deadlineAt || signal?.aborted) {
    fail(run, error);
    return;
  }
  run.delays += 1;
  run.tried.clear();
  setTimeout(begin, waitMs, run);
}

function fail(run: Run, error: unknown): void {
  end(run);
  run.reject(error);
}

function end({ open }: Run): void {
  for (const { forget } of open) forget();
  open.clear();
}

// Nothing was done in these cases, or the operation may be repeated anyway.
function isWorthRepeating(error: unknown): boolean {
  if (error instanceof ConnectionError) return error.kind === "no-responder" || error.kind === "lost";
  return isFault(error) && error.fault === "overloaded";
}

// Another replica would say the same.
function isFinal(error: unknown): boolean {
  if (isFault(error)) return error.fault !== "overloaded" && error.fault !== "unavailable";
  return !(error instanceof ConnectionError) || error.kind === "aborted" || error.kind === "too-large";
}
