import type { Phase } from "../server/row.ts";
import { classes } from "../ui/css.ts";
import { useWords } from "../words/words.ts";
import styles from "./chart.module.css";
import type { Band, Span } from "./chart.ts";
import { TimeAxis } from "./line-chart.tsx";
import { useWidth } from "./use-width.ts";

const colours: Record<Phase, string | undefined> = {
  Unknown: styles.unknown,
  Stopped: styles.asleep,
  Starting: styles.starting,
  Running: styles.running,
  Stopping: styles.starting,
  Failed: styles.failed,
};
const height = 52;
const bandHeight = 28;
const edge = { left: 60, right: 8 };
const pxPerTick = 90;
/** A word needs so much room for each of its letters, and some at both ends. */
const letterPx = 14;

/** What a server was doing when; nothing is drawn where nothing is known. */
export function PhaseStrip({
  label,
  span,
  bands,
}: {
  label: string;
  span: Span;
  bands: readonly Band<Phase>[];
}) {
  const { phases } = useWords().server;
  const [ref, width] = useWidth();
  const inner = Math.max(1, width - edge.left - edge.right);
  const xAt = (time: number) => edge.left + ((time - span.from) / (span.to - span.from)) * inner;
  return (
    <div ref={ref} className={styles.chart}>
      {width > 0 && (
        <svg role="img" aria-label={label} width={width} height={height}>
          <rect className={styles.frame} x={edge.left} y={0.5} width={inner} height={bandHeight} />
          {bands.map(({ from, to, phase }) => {
            const room = xAt(to) - xAt(from);
            const word = phases[phase];
            return (
              <g key={from} className={classes(styles.band, colours[phase])}>
                <rect x={xAt(from)} y={0.5} width={Math.max(1, room)} height={bandHeight}>
                  <title>{word}</title>
                </rect>
                {room > word.length * letterPx && (
                  <text x={(xAt(from) + xAt(to)) / 2} y={bandHeight / 2 + 5}>
                    {word}
                  </text>
                )}
              </g>
            );
          })}
          <TimeAxis span={span} xAt={xAt} most={inner / pxPerTick} y={height - 5} />
        </svg>
      )}
    </div>
  );
}
