// The open chest of one player: which page it shows, and that what it shows stays fresh.

import type { Say } from "@svc/proto/language";
import type { Clock } from "@svc/service/clock";
import { redrawMs, refreshMs } from "../config.ts";
import { type Click, clickOf } from "../menu/page.ts";
import { renderPage } from "../menu/render.ts";
import type { Server } from "../menu/tile.ts";
import { texts } from "../texts.ts";
import type { LobbyPlayer } from "./player.ts";
import type { RateLimitedRequests } from "./rate-limited-requests.ts";
import type { ServerList } from "./server-list.ts";

type Dependencies = {
  readonly player: LobbyPlayer;
  readonly servers: ServerList;
  readonly requests: RateLimitedRequests;
  readonly clock: Clock;
  readonly say: Say;
};

export type Menu = {
  readonly isOpen: () => boolean;
  readonly open: () => void;
  readonly close: () => void;
  /** The player has closed it. */
  readonly closed: () => void;
  readonly show: () => void;
  /** Shows within a moment, once for all that changes in it. */
  readonly showSoon: () => void;
  /** Shows, and asks how the servers are. */
  readonly refresh: () => void;
  readonly turnTo: (page: number) => void;
  readonly clicked: (slot: number) => { click: Click; server: Server | undefined };
};

export function createMenu({ player, servers, requests, clock, say }: Dependencies): Menu {
  let pageIndex = 0;
  let closing: AbortController | undefined;
  const show = () => {
    const page = servers.page(pageIndex);
    const title =
      page.count > 1 ? say(texts.titleOfPage, { page: page.index + 1, pages: page.count }) : say(texts.title);
    player.showMenu(title, renderPage(page, say));
  };
  let isDue = false;
  const showSoon = () => {
    if (isDue || !closing) return;
    isDue = true;
    const open = closing;
    clock.sleep(redrawMs, player.left).then(
      () => {
        isDue = false;
        if (closing === open) show();
      },
      () => {},
    );
  };
  const refresh = () => {
    show();
    requests.ask(servers.page(pageIndex).tiles.map(({ name }) => name));
  };
  const keepFresh = async (signal: AbortSignal) => {
    for (;;) {
      await clock.sleep(refreshMs, signal);
      refresh();
    }
  };
  const closed = () => {
    closing?.abort();
    closing = undefined;
    requests.ask([]);
  };
  return {
    isOpen: () => closing !== undefined,
    open: () => {
      closing?.abort();
      closing = new AbortController();
      pageIndex = 0;
      refresh();
      keepFresh(AbortSignal.any([closing.signal, player.left])).catch(() => {});
    },
    close: () => {
      closed();
      player.closeMenu();
    },
    closed,
    show,
    showSoon,
    refresh,
    turnTo: (index) => {
      pageIndex = index;
      refresh();
    },
    clicked: (slot) => {
      const page = servers.page(pageIndex);
      const click = clickOf(page, slot);
      return { click, server: click.kind === "server" ? page.tiles[click.position] : undefined };
    },
  };
}
