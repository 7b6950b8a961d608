// Players of the lobby: each stands on a small platform over nothing, and has a menu.

import { createLimbo, kick, type Limbo, type LimboSession, type Player } from "@svc/minecraft";
import { controlChannel, encodeControl } from "@svc/proto/control";
import { sayTo } from "@svc/proto/language";
import { type Clock, systemClock } from "@svc/service/clock";
import { enterTimeoutMs } from "./config.ts";
import type { LobbyPlayer } from "./session/player.ts";
import { menuCommands, openSession } from "./session/session.ts";
import { texts } from "./texts.ts";

const chestRows = 6;

type Lobby = {
  readonly admit: (player: Player) => Promise<void>;
  readonly players: () => number;
  readonly close: () => Promise<void>;
};

export function createLobby({
  maxPlayers,
  clock = systemClock,
}: {
  maxPlayers: number;
  clock?: Clock;
}): Lobby {
  const limbo: Limbo = createLimbo({
    platform: true,
    commands: menuCommands.map((name) => ({ name, isComplete: true })),
  });
  const present = new Set<Player>();
  let isClosing = false;
  const admit = async (player: Player) => {
    const say = sayTo(() => player.client.locale);
    if (isClosing) return kick(player, say(texts.closing));
    if (present.size >= maxPlayers) return kick(player, say(texts.full));
    present.add(player);
    player.connection.closed.then(() => present.delete(player)).catch(() => {});
    await enter(limbo, player, clock);
  };
  return {
    admit,
    players: () => present.size,
    close: async () => {
      isClosing = true;
      for (const player of present) kick(player, sayTo(() => player.client.locale)(texts.closing));
      await Promise.all([...present].map(({ connection }) => connection.closed));
      await limbo[Symbol.asyncDispose]();
    },
  };
}

async function enter(limbo: Limbo, player: Player, clock: Clock): Promise<void> {
  const left = new AbortController();
  const window: { id: number | undefined } = { id: undefined };
  // Frames may come before `enter` resolves; they wait for the session.
  const { promise: opened, resolve } = Promise.withResolvers<ReturnType<typeof openSession>>();
  let session: ReturnType<typeof openSession> | undefined;
  const withSession = (act: (session: ReturnType<typeof openSession>) => void) => {
    if (session) act(session);
    else void opened.then(act);
  };
  const slow = setTimeout(() => player.connection.destroy(), enterTimeoutMs);
  player.connection.closed.then(() => clearTimeout(slow)).catch(() => {});
  const limboSession = await limbo.enter(player, {
    onCommand: (command) => withSession((one) => one.command(command)),
    onPluginMessage: ({ channel, data }) => {
      if (channel !== controlChannel) return;
      const bytes = Buffer.from(data);
      withSession((one) => one.frame(bytes));
    },
    onClick: ({ windowId, slot, button }) => {
      if (windowId === window.id) withSession((one) => one.click(slot, button === 1));
    },
    onCloseWindow: (windowId) => {
      if (windowId !== window.id) return;
      window.id = undefined;
      withSession((one) => one.menuClosed());
    },
    onLeave: () => left.abort(),
  });
  clearTimeout(slow);
  if (player.connection.isClosed) left.abort();
  session = openSession(lobbyPlayer({ session: limboSession, window, left: left.signal }), clock);
  resolve(session);
}

type Screen = { session: LimboSession; window: { id: number | undefined }; left: AbortSignal };

function lobbyPlayer({ session, window, left }: Screen): LobbyPlayer {
  const { client } = session.player;
  return {
    locale: () => client.locale,
    say: (text) => session.message(text),
    title: (title, subtitle) => session.title({ title, subtitle }),
    send: (frame) => session.pluginMessage({ channel: controlChannel, data: encodeControl(frame) }),
    showMenu: (title, items) => {
      window.id = session.openChest({ title, rows: chestRows, items });
    },
    closeMenu: () => {
      if (window.id === undefined) return;
      window.id = undefined;
      session.closeWindow();
    },
    left,
  };
}
