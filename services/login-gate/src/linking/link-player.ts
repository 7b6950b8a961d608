// Keeps one player at the gate and performs what the policy decides until they are gone.

import type { Text } from "@svc/minecraft";
import { sayTo } from "@svc/proto/language";
import type { Clock } from "@svc/service/clock";
import type { GateRules } from "../config.ts";
import type { LinkService } from "./link-service.ts";
import { type Action, type Answer, arrive, type KickReason, next, type Step } from "./policy.ts";
import { type Card, codeCard, codeLines, texts } from "./texts.ts";

/** A player as far as the gate needs one. */
export type GatePlayer = {
  readonly uuid: string;
  readonly name: string;
  readonly locale: () => string;
  readonly say: (text: Text) => void;
  /** Shows a dialog, or a book where the client has no dialogs. */
  readonly showCard: (card: Card) => void;
  readonly hideCard: () => void;
  /** Asks the proxy to take the player on. */
  readonly release: () => void;
  readonly kick: (text: Text) => void;
  /** Aborted once the connection is closed. */
  readonly left: AbortSignal;
};

export type LinkDeps = {
  readonly service: LinkService;
  readonly panelHost: string;
  readonly rules: GateRules;
  readonly clock: Clock;
  /** How it went, for counting. */
  readonly onOutcome: (outcome: KickReason | "code_shown" | "release") => void;
};

/** Settles when the player was kicked, released or has left. Never rejects because of the player or the service. */
export async function linkPlayer(player: GatePlayer, deps: LinkDeps): Promise<void> {
  try {
    await walk(player, deps);
  } catch (error) {
    if (!player.left.aborted) throw error;
  }
}

async function walk(player: GatePlayer, deps: LinkDeps): Promise<void> {
  const { clock, rules, onOutcome } = deps;
  let step = arrive(clock.now());
  for (;;) {
    // A poll already waits for its batch.
    if (step.afterMs > 0 && step.action.kind !== "poll") await clock.sleep(step.afterMs, player.left);
    player.left.throwIfAborted();
    const { action } = step;
    if (action.kind === "kick") {
      onOutcome(action.reason);
      player.kick(sayTo(player.locale)(texts.kicked[action.reason]));
      return;
    }
    const answer = await perform(action, player, deps);
    const before = step;
    step = next(step, answer, { now: clock.now(), rules });
    tell(player, { before, step, answer, deps });
  }
}

async function perform(action: Action, player: GatePlayer, { service }: LinkDeps): Promise<Answer> {
  if (action.kind === "look" || action.kind === "poll" || action.kind === "mint") {
    return service[action.kind](player.uuid, player.left);
  }
  player.release();
  return { kind: "sent" };
}

type Turn = { before: Step; step: Step; answer: Answer; deps: LinkDeps };

function tell(player: GatePlayer, { before, step, answer, deps }: Turn): void {
  const say = sayTo(player.locale);
  if (step.alsoRelease) player.release();
  if (answer.kind === "outage" && step.state.phase === "arriving" && before.state.attempts === 0) {
    player.say({ text: say(texts.waiting), color: "yellow" });
  }
  if (answer.kind === "minted") {
    const minutes = Math.max(1, Math.round((answer.expiresAt - deps.clock.now()) / 60_000));
    const code = { code: answer.code, url: answer.url ?? `https://${deps.panelHost}`, minutes };
    for (const line of codeLines(code, say)) player.say(line);
    player.showCard(codeCard(code, say));
    deps.onOutcome("code_shown");
  }
  if (step.state.phase === "releasing" && before.state.phase !== "releasing") {
    player.hideCard();
    player.say({ text: say(texts.linked), color: "green" });
    deps.onOutcome("release");
  }
}
