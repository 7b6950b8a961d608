// What happens to a player who stands at the gate (docs/reference/login-gate.md#states). Pure: the shell does one action, hands its answer
// in, and gets the next one.
//
// | phase | does | leaves when |
// |---|---|---|
// | arriving | look (blacklist, then link), mint a code for who is not linked | linked: releasing; code shown: linking |
// | linking | poll once a second; a code that ran out is minted anew | linked: look again, then releasing; time is over: kick |
// | releasing | ask the proxy to move the player on, again and again | the connection closes; the window is over: kick |
//
// In doubt the player stays. Only "linked and not barred" releases; while the service is away at arrival the proxy is
// asked too, because it may remember this player, but never once the service said "not linked".

import type { GateRules } from "../config.ts";

/** Why a player is sent away; each has its text. */
export type KickReason = "barred" | "timeout" | "service_away" | "service_refuses" | "proxy_silent";

export type Action =
  | { readonly kind: "look" }
  | { readonly kind: "mint" }
  | { readonly kind: "poll" }
  | { readonly kind: "release" }
  | { readonly kind: "kick"; readonly reason: KickReason };

/**
 * What came of an action. `outage`: no answer or 500 and above; `unauthenticated`: the gate's token is not accepted;
 * `refused`: any other refusal.
 */
export type Answer =
  | { readonly kind: "barred" | "linked" | "unlinked" | "outage" | "unauthenticated" | "refused" | "sent" }
  | { readonly kind: "minted"; readonly code: string; readonly expiresAt: number; readonly url?: string };

type State = {
  readonly phase: "arriving" | "linking" | "releasing";
  readonly since: number;
  /** Failed attempts of this phase, which lengthen the pause. */
  readonly attempts: number;
  readonly isKnownUnlinked: boolean;
  readonly codeExpiresAt: number;
};

export type Step = {
  readonly state: State;
  readonly action: Action;
  readonly afterMs: number;
  /** Also asks the proxy to let the player through, on what it remembers. */
  readonly alsoRelease?: true;
};

/** How long a gateway may take to accept a token that was rotated just now; longer means that the token is wrong. */
const rotationMs = 5_000;

/** A player has come in. */
export function arrive(now: number): Step {
  const state: State = {
    phase: "arriving",
    since: now,
    attempts: 0,
    isKnownUnlinked: false,
    codeExpiresAt: 0,
  };
  return { state, action: { kind: "look" }, afterMs: 0 };
}

/** The step after an action was answered. */
export function next(
  { state, action }: Pick<Step, "state" | "action">,
  answer: Answer,
  { now, rules }: { now: number; rules: GateRules },
): Step {
  const moment = { state, action, answer, now, rules };
  if (answer.kind === "barred") return kick(state, "barred");
  if (state.phase === "releasing") return releaseAgain(moment);
  if (answer.kind === "linked") return linked(moment);
  if (answer.kind === "minted") return minted(moment, answer.expiresAt);
  return state.phase === "arriving" ? arriving(moment) : linking(moment);
}

type Moment = { state: State; action: Action; answer: Answer; now: number; rules: GateRules };

// A poll only knows the link: whoever was barred meanwhile must not pass on it.
function linked({ state, action, now }: Moment): Step {
  if (action.kind !== "look") return { state, action: { kind: "look" }, afterMs: 0 };
  const releasing: State = { ...state, phase: "releasing", since: now, attempts: 0 };
  return { state: releasing, action: { kind: "release" }, afterMs: 0 };
}

function minted({ state, now, rules }: Moment, codeExpiresAt: number): Step {
  const since = state.phase === "linking" ? state.since : now;
  const linkingState: State = { ...state, phase: "linking", since, attempts: 0, codeExpiresAt };
  return { state: linkingState, action: { kind: "poll" }, afterMs: rules.pollMs };
}

function arriving({ state, action, answer, now, rules }: Moment): Step {
  if (answer.kind === "unlinked") {
    return { state: { ...state, isKnownUnlinked: true }, action: { kind: "mint" }, afterMs: 0 };
  }
  const afterMs = pauseOf(state.attempts, rules);
  const isRotating = answer.kind === "unauthenticated" && now + afterMs - state.since <= rotationMs;
  if (isRotating) return { state: { ...state, attempts: state.attempts + 1 }, action, afterMs };
  if (answer.kind !== "outage") return kick(state, "service_refuses");
  if (now + afterMs - state.since > rules.outageWindowMs) return kick(state, "service_away");
  const again: Step = { state: { ...state, attempts: state.attempts + 1 }, action, afterMs };
  return state.isKnownUnlinked ? again : { ...again, alsoRelease: true };
}

// The player has a code on the screen: a service that is away for a moment changes nothing for them.
function linking({ state, now, rules }: Moment): Step {
  if (now - state.since >= rules.loginTimeoutMs) return kick(state, "timeout");
  const kind = now >= state.codeExpiresAt ? "mint" : "poll";
  return { state, action: { kind }, afterMs: rules.pollMs };
}

function releaseAgain({ state, now, rules }: Moment): Step {
  const afterMs = pauseOf(state.attempts, rules);
  if (now + afterMs - state.since > rules.releaseWindowMs) return kick(state, "proxy_silent");
  return { state: { ...state, attempts: state.attempts + 1 }, action: { kind: "release" }, afterMs };
}

function kick(state: State, reason: KickReason): Step {
  return { state, action: { kind: "kick", reason }, afterMs: 0 };
}

function pauseOf(attempts: number, { backoffMs }: GateRules): number {
  return backoffMs[Math.min(attempts, backoffMs.length - 1)] ?? 0;
}
