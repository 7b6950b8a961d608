// Who was linked a moment ago: asked only while the service is silent (docs/reference/proxy.md#join).

export type LinkCache = {
  /** The service said just now that this player is linked and not barred. */
  remember: (player: string) => void;
  forget: (player: string) => void;
  /** When it last said so; undefined when that has expired, was revoked, or never happened. */
  linkedAt: (player: string) => number | undefined;
  readonly size: number;
};

/**
 * Holds at most `players`: beyond that the oldest are dropped, which only means that those players wait at the gate
 * while the service is down.
 */
export function createLinkCache(about: { keepMs: number; players: number; now: () => number }): LinkCache {
  // In the order of their answers, the oldest first.
  const answers = new Map<string, number>();
  const isOver = (at: number) => about.now() - at >= about.keepMs;
  const sweep = () => {
    for (const [player, at] of answers) {
      if (!isOver(at) && answers.size <= about.players) return;
      answers.delete(player);
    }
  };
  return {
    remember: (player) => {
      answers.delete(player);
      answers.set(player, about.now());
      sweep();
    },
    forget: (player) => void answers.delete(player),
    linkedAt: (player) => {
      const at = answers.get(player);
      return at === undefined || isOver(at) ? undefined : at;
    },
    get size() {
      return answers.size;
    },
  };
}
