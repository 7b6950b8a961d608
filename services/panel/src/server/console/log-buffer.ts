// The lines of one console, at most 20,000. Whoever draws them is told once per frame.

import { plainText, rankOfLine } from "./styled-text.ts";

const maxLines = 20_000;
/** Trimmed only at this many, so that a busy console is not copied for every line. */
const trimAt = maxLines + 2_000;

export type LogLine = {
  /** Counts up over the life of the console, also past lines that are gone. */
  id: number;
  atSeconds: number;
  raw: string;
  plain: string;
  /** How bad it is, from 0. */
  rank: number;
  /** Set where lines are missing: how many. */
  dropped?: number;
  /** What it is part of, such as a step of a build. */
  group?: string;
  /** Names the group whose lines follow. */
  isHeading?: boolean;
};

export type LogBuffer = {
  append: (atSeconds: number, raw: string, part?: { group?: string; isHeading?: boolean }) => void;
  appendGap: (dropped: number) => void;
  /** A new array after every change that was announced, the same one between. */
  lines: () => readonly LogLine[];
  subscribe: (listener: () => void) => () => void;
};

/** `schedule` runs a function before the next frame. */
export function createLogBuffer(schedule: (run: () => void) => void = requestAnimationFrame): LogBuffer {
  let lines: LogLine[] = [];
  let shown: readonly LogLine[] = [];
  let nextId = 0;
  let lastRank = 1;
  let isScheduled = false;
  const listeners = new Set<() => void>();
  const announce = () => {
    if (isScheduled) return;
    isScheduled = true;
    schedule(() => {
      isScheduled = false;
      if (lines.length > trimAt) lines = lines.slice(-maxLines);
      shown = lines.slice();
      for (const listener of listeners) listener();
    });
  };
  const push = (line: Omit<LogLine, "id">) => {
    lines.push({ ...line, id: nextId++ });
    announce();
  };
  return {
    append: (atSeconds, raw, part) => {
      const plain = plainText(raw);
      lastRank = rankOfLine(plain) ?? lastRank;
      push({ atSeconds, raw, plain, rank: lastRank, ...part });
    },
    appendGap: (dropped) => push({ atSeconds: 0, raw: "", plain: "", rank: 3, dropped }),
    lines: () => shown,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
