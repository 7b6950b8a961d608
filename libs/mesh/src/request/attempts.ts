// Sends one request to one replica of its owner after another until one answers (ADR 0014).

import type { Msg } from "@nats-io/transport-node";
import { type AnyContract, Fault, instanceSubject, isFault, rpcSubject } from "@svc/proto";
import type { RawReply } from "../api.ts";
import { ConnectionError } from "../connection/connection-error.ts";
import { randomToken } from "../connection/random-token.ts";
import type { Core } from "../core.ts";
import { quietMs, type Replicas } from "./replicas.ts";
import { decodeReply, type Envelope, encodeEnvelope } from "./wire.ts";

/** A request that must not be repeated fails when its owner was silent for this long. */
const lostMs = 2_000;
const longDeadlineMs = 20_000;
const maxAttempts = 3;
// 0.4 to 1.1 s together: as long as owners take to another server when that of all of them died.
const delaysMs = [50, 100, 200, 400];
const jitter = { least: 0.5, most: 1.5 };

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
  /** Another attempt was started because of this one. */
  hasNext: boolean;
  /** There is a live replica that was not asked yet. */
  hasOther: boolean;
  attemptsLeft: number;
};

/** What to do about an attempt without an answer. With `ask-again` NATS chooses: all known replicas are silent. */
export function decideWait(seen: Waiting): "wait" | "ask-other" | "ask-again" | "give-up" {
  const isLost = seen.quietMs >= lostMs;
  if (!seen.mayRepeat) return isLost ? "give-up" : "wait";
  if (seen.mayRepeat === "by-id" && isLost && !seen.hasNext && !seen.hasOther) return "give-up";
  if (seen.hasNext || seen.attemptsLeft === 0) return "wait";
  // A change in progress would only wait for itself at another replica.
  const isSlow = seen.mayRepeat === true && seen.sinceSentMs >= seen.tryMs;
  if ((isSlow || seen.quietMs >= quietMs) && seen.hasOther) return "ask-other";
  if (!isLost) return "wait";
  return seen.deadlineMs > longDeadlineMs ? "give-up" : "ask-again";
}

type Attempt = { instance: string | undefined; forget: () => void; hasNext: boolean; quietMs: number };

type Run = {
  core: Core;
  replicas: Replicas;
  request: Request;
  mayRepeat: boolean | "by-id";
  onceId: string | undefined;
  tried: Set<string>;
  open: Set<Attempt>;
  /** The attempts that reached a replica, or may have. */
  begun: number;
  delays: number;
  resolve: (reply: RawReply) => void;
  reject: (error: unknown) => void;
};

/** Resolves with the first answer; rejects with the fault of the owner or a `ConnectionError`. */
export function sendToReplicas(core: Core, replicas: Replicas, request: Request): Promise<RawReply> {
  const { idempotent, onceById } = request.contract;
  const mayRepeat = idempotent || (onceById && "by-id");
  const onceId = mayRepeat === "by-id" ? randomToken() : undefined;
  return new Promise((resolve, reject) => {
    const counts = { begun: 0, delays: 0 };
    const sets = { tried: new Set<string>(), open: new Set<Attempt>() };
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
  const current: Attempt = { instance, forget: () => {}, hasNext: false, quietMs: 0 };
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

// A change fails when its owner falls silent, and must not be started after that.
function headersOf({ request, mayRepeat, onceId, begun }: Run): Uint8Array {
  const { envelope } = request;
  if (mayRepeat === true) return encodeEnvelope(envelope);
  return encodeEnvelope(envelope, {
    beginBy: Math.min(envelope.deadlineAt, Date.now() + lostMs),
    ...(onceId !== undefined && { onceId, isRepeat: begun > 1 }),
  });
}

function onReply(run: Run, current: Attempt, message: Msg): void {
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

function onWait(run: Run, current: Attempt, waited: { sinceSentMs: number; quietMs: number }): void {
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
    attemptsLeft: Math.max(0, maxAttempts - run.begun),
  });
  if (step === "give-up") {
    current.forget();
    onFailure(run, current, new ConnectionError("timeout", "the owner of the request stopped responding"));
  } else if (step !== "wait") {
    current.hasNext = true;
    begin(run);
  }
}

function onFailure(run: Run, current: Attempt, error: unknown): void {
  run.open.delete(current);
  const isUndelivered = error instanceof ConnectionError && error.kind === "no-responder";
  if (isUndelivered && current.instance !== undefined) {
    run.replicas.leaveOut(run.request.contract.owner, current.instance);
    // Nobody has heard it: it is no attempt, or two dead replicas would leave none for the one that is alive.
    run.begun -= 1;
    begin(run);
  } else if (!isFinal(error) && [...run.open].some((other) => other.quietMs < quietMs)) {
    // Another attempt may still be answered; of such failures the last one counts.
    for (const other of run.open) other.hasNext = false;
  } else if (isCutOff(run, error)) {
    void beginOnceBack(run, error);
  } else if (!run.mayRepeat || !isWorthRepeating(error)) {
    fail(run, error);
  } else if (isFault(error) && run.begun < maxAttempts && hasOther(run)) {
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
  const spread = jitter.least + Math.random() * (jitter.most - jitter.least);
  const waitMs = (delaysMs[run.delays] ?? Number.POSITIVE_INFINITY) * spread;
  if (Date.now() + waitMs >= envelope.deadlineAt || signal?.aborted) {
    fail(run, error);
    return;
  }
  run.delays += 1;
  run.tried.clear();
  setTimeout(begin, waitMs, run);
}

// Of a request that was sent nobody knows whether it arrived.
function isCutOff({ mayRepeat }: Run, error: unknown): boolean {
  if (!(error instanceof ConnectionError)) return false;
  return error.kind === "unsent" || (error.kind === "lost" && mayRepeat !== false);
}

async function beginOnceBack(run: Run, error: unknown): Promise<void> {
  if (await run.core.connection.whenBack()) beginLater(run, error);
  else fail(run, error);
}

function fail(run: Run, error: unknown): void {
  end(run);
  run.reject(error);
}

function end({ open }: Run): void {
  for (const { forget } of open) forget();
  open.clear();
}

// In these cases nothing was done, or the operation may be repeated anyway.
function isWorthRepeating(error: unknown): boolean {
  if (error instanceof ConnectionError) return error.kind === "no-responder";
  return isFault(error) && error.fault === "overloaded";
}

// Another replica would answer the same.
function isFinal(error: unknown): boolean {
  if (isFault(error)) return error.fault !== "overloaded" && error.fault !== "unavailable";
  return !(error instanceof ConnectionError) || error.kind === "aborted" || error.kind === "too-large";
}
