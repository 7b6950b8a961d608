// Players of the gate: each connection becomes a player in a world of nothing, and is held there.

import { createLimbo, kick, type Limbo, type LimboSession, type Player } from "@svc/minecraft";
import { controlChannel, encodeControl } from "@svc/proto/control";
import { sayTo } from "@svc/proto/language";
import type { Logger } from "@svc/telemetry";
import { enterTimeoutMs } from "./config.ts";
import { type GatePlayer, type LinkDeps, linkPlayer } from "./linking/link-player.ts";
import { bookPage, texts } from "./linking/texts.ts";

type Dependencies = {
  /** Undefined: the sign-in flow is off, and nobody passes. */
  readonly holding: LinkDeps | undefined;
  readonly maxPlayers: number;
  readonly log: Logger;
};

type Gate = {
  readonly admit: (player: Player) => Promise<void>;
  readonly players: () => number;
  readonly close: () => Promise<void>;
};

export function createGate({ holding, maxPlayers, log }: Dependencies): Gate {
  const limbo: Limbo = createLimbo();
  const present = new Set<Player>();
  let isClosing = false;
  const admit = async (player: Player) => {
    const say = sayTo(() => player.client.locale);
    if (!holding) return kick(player, say(texts.kicked.off));
    if (isClosing) return kick(player, say(texts.kicked.closing));
    if (present.size >= maxPlayers) return kick(player, say(texts.kicked.full));
    present.add(player);
    player.connection.closed.then(() => present.delete(player)).catch(() => {});
    const left = new AbortController();
    const slow = setTimeout(() => player.connection.destroy(), enterTimeoutMs);
    player.connection.closed.then(() => clearTimeout(slow)).catch(() => {});
    // Nobody else hears what is said here, and no command is known.
    const answer = () => session.message(say(texts.here));
    const events = { onLeave: () => left.abort(), onChat: answer, onCommand: answer };
    const session = await limbo.enter(player, events);
    clearTimeout(slow);
    if (player.connection.isClosed) left.abort();
    try {
      await linkPlayer(gatePlayer(session, left.signal), holding);
    } catch (error) {
      // In doubt nobody passes.
      log.error({ err: error, player: player.profile.uuid }, "linking a player failed; kicking them");
      session.kick(say(texts.kicked.service_refuses));
    }
  };
  return {
    admit,
    players: () => present.size,
    close: async () => {
      isClosing = true;
      for (const player of present) kick(player, sayTo(() => player.client.locale)(texts.kicked.closing));
      await Promise.all([...present].map(({ connection }) => connection.closed));
      await limbo[Symbol.asyncDispose]();
    },
  };
}

function gatePlayer(session: LimboSession, left: AbortSignal): GatePlayer {
  const { profile, client } = session.player;
  let isDialogOpen = false;
  return {
    uuid: profile.uuid,
    name: profile.name,
    locale: () => client.locale,
    say: (text) => session.message(text),
    showCard: (card) => {
      isDialogOpen = session.showDialog({ ...card, closable: true });
      if (!isDialogOpen) session.openBook([bookPage(card)]);
    },
    hideCard: () => {
      if (isDialogOpen) session.clearDialog();
      isDialogOpen = false;
    },
    release: () => {
      const data = encodeControl({ type: "LoginRelease", player: profile.uuid });
      session.pluginMessage({ channel: controlChannel, data });
    },
    kick: (text) => session.kick(text),
    left,
  };
}
