import { useVirtualizer, type Virtualizer } from "@tanstack/react-virtual";
import {
  type Key,
  type ReactNode,
  type RefObject,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { Button } from "./button.tsx";
import { classes } from "./css.ts";
import styles from "./log-view.module.css";

type LogViewProps<Line> = {
  label: string;
  lines: readonly Line[];
  /** Counts up with the lines. */
  idOf: (line: Line) => number;
  draw: (line: Line) => ReactNode;
  /** What readers hear of a line. */
  textOf: (line: Line) => string;
  wraps: boolean;
  /** Words of the button that leads to the end: how many lines came meanwhile. */
  newerWords: (count: number) => string;
  /** Stands where lines would be while there are none. */
  emptyWords: string;
};

const linePx = 18;
const nearPx = 24;
const announceMs = 2_000;
/** A box goes on scrolling for a while after a hand has left it. */
const handMs = 1_000;

/** Lines that keep coming. It follows the newest one until somebody scrolls up; the page itself never moves. */
export function LogView<Line>(props: LogViewProps<Line>) {
  const { label, lines, idOf, draw, textOf, wraps, newerWords, emptyWords } = props;
  const scroll = useRef<HTMLDivElement>(null);
  const handAt = useRef(Number.NEGATIVE_INFINITY);
  const before = useRef({ top: 0, height: 0 });
  /** Id of the newest line when following was paused. */
  const [pausedAt, setPausedAt] = useState<number>();
  const isFollowing = pausedAt === undefined;
  const last = lines.at(-1);
  const lastId = last === undefined ? -1 : idOf(last);
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => linePx,
    getItemKey: (at) => idOf(lines[at] as Line),
    overscan: 20,
  });
  const height = virtual.getTotalSize();
  const noteAnchor = useAnchor(scroll, virtual, isFollowing || !lines[0] ? undefined : idOf(lines[0]));
  // biome-ignore lint/correctness/useExhaustiveDependencies: every new line moves the end, and so does one that was measured
  useLayoutEffect(() => {
    const box = scroll.current;
    if (box && isFollowing) box.scrollTop = box.scrollHeight;
  }, [lastId, isFollowing, wraps, height]);
  const noteScroll = () => {
    const box = scroll.current;
    if (!box) return;
    noteAnchor();
    const { scrollTop: top, scrollHeight, clientHeight } = box;
    const { top: topBefore, height: heightBefore } = before.current;
    before.current = { top, height: scrollHeight };
    if (scrollHeight - top - clientHeight < nearPx) return setPausedAt(undefined);
    if (!isFollowing) return;
    // Lines that come, wrap or are measured scroll the box as well.
    const isByHand = performance.now() - handAt.current < handMs;
    if (isByHand || (top < topBefore && scrollHeight === heightBefore)) setPausedAt(lastId);
    else box.scrollTop = scrollHeight;
  };
  const noteHand = () => {
    handAt.current = performance.now();
  };
  return (
    <div className={styles.frame} {...(lines.length === 0 && { "data-empty": emptyWords })}>
      <div
        ref={scroll}
        role="log"
        aria-label={label}
        aria-live="off"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling box has to be reachable by keyboard
        tabIndex={0}
        className={classes(styles.scroll, wraps && styles.wrap)}
        onScroll={noteScroll}
        onWheel={noteHand}
        onTouchMove={noteHand}
        onPointerMove={(event) => event.buttons !== 0 && noteHand()}
        onKeyDown={(event) => {
          if (event.key === "End") setPausedAt(undefined);
          else noteHand();
        }}
      >
        <div className={classes(styles.size, !wraps && styles.nowrap)} style={{ height }}>
          {virtual.getVirtualItems().map(({ index, key, start }) => (
            <div
              key={key}
              ref={wraps ? virtual.measureElement : undefined}
              data-index={index}
              className={styles.line}
              style={{ transform: `translateY(${start}px)` }}
            >
              {draw(lines[index] as Line)}
            </div>
          ))}
        </div>
      </div>
      {!isFollowing && (
        <div className={styles.newer}>
          <Button kind="primary" onPress={() => setPausedAt(undefined)}>
            {newerWords(Math.max(0, lastId - pausedAt))}
          </Button>
        </div>
      )}
      <Announcer text={last === undefined ? "" : textOf(last)} />
    </div>
  );
}

type Lines = Virtualizer<HTMLDivElement, Element>;

/**
 * Keeps the line at the upper edge there when the oldest line changes, whose id `first` is, unless it is undefined; who reads one that
 * leaves gets the oldest. What comes back notes which line that is.
 */
function useAnchor(scroll: RefObject<HTMLDivElement | null>, virtual: Lines, first: number | undefined) {
  const anchor = useRef<{ key: Key; below: number }>(undefined);
  const noteAnchor = () => {
    const top = scroll.current?.scrollTop ?? 0;
    const line = virtual.getVirtualItems().find(({ end }) => end > top);
    anchor.current = line && { key: line.key, below: top - line.start };
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: when the oldest lines leave, those below them move up
  useLayoutEffect(() => {
    const [box, kept] = [scroll.current, anchor.current];
    if (first === undefined || !box || !kept) return;
    const line = virtual.measurementsCache.find(({ key }) => key === kept.key);
    box.scrollTop = line ? line.start + kept.below : 0;
  }, [first]);
  return noteAnchor;
}

/** Reads out the newest line, at most one in two seconds. */
function Announcer({ text }: { text: string }) {
  const [said, setSaid] = useState("");
  const newest = useRef(text);
  newest.current = text;
  useEffect(() => {
    const timer = setInterval(() => setSaid(newest.current), announceMs);
    return () => clearInterval(timer);
  }, []);
  return (
    <div className={styles.hidden} aria-live="polite">
      {said}
    </div>
  );
}
