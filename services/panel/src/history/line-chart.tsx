import { type PointerEvent, useState } from "react";
import { classes } from "../ui/css.ts";
import { useLanguage } from "../words/words.ts";
import styles from "./chart.module.css";
import {
  type Band,
  isAlone,
  linePath,
  type Span,
  spreadOut,
  stepAt,
  timeTicks,
  type Values,
  valueTicks,
} from "./chart.ts";
import { useWidth } from "./use-width.ts";

export type Line = { name: string; values: Values };

type LineChartProps = {
  /** What readers hear in place of the picture. */
  label: string;
  span: Span;
  /** At most three, told apart by dash and word. */
  lines: readonly Line[];
  format: (value: number) => string;
  isBytes?: boolean;
  isWhole?: boolean;
  /** Times in which there is nothing to measure. */
  shaded?: readonly Band<unknown>[];
};

const height = 150;
const edge = { left: 60, right: 8, top: 8, bottom: 22 };
const pxPerTick = 90;

/** Lines over time. Gaps stay gaps; the value under the pointer stands below. */
export function LineChart(props: LineChartProps) {
  const { label, span, lines, format, isBytes = false, isWhole = false, shaded = [] } = props;
  const [ref, width] = useWidth();
  const [step, setStep] = useState<number>();
  const steps = lines[0]?.values.length ?? 0;
  const inner = Math.max(1, width - edge.left - edge.right);
  const xAt = (time: number) => edge.left + ((time - span.from) / (span.to - span.from)) * inner;
  // A value stands in the middle of its step.
  const xOf = (index: number) => edge.left + ((index + 0.5) / steps) * inner;
  const known = lines.flatMap(({ values }) => values.filter((value) => value !== null));
  const ticks = valueTicks(Math.max(0, ...known), { isBytes, isWhole });
  const top = ticks.at(-1) || 1;
  const yOf = (value: number) => edge.top + (1 - value / top) * (height - edge.top - edge.bottom);
  const point = (event: PointerEvent<SVGSVGElement>) => {
    const { left } = event.currentTarget.getBoundingClientRect();
    setStep(stepAt((event.clientX - left - edge.left) / inner, steps));
  };
  return (
    <div ref={ref} className={styles.chart}>
      {width > 0 && (
        <svg
          role="img"
          aria-label={label}
          width={width}
          height={height}
          onPointerMove={point}
          onPointerLeave={() => setStep(undefined)}
        >
          {shaded.map(({ from, to }) => (
            <rect
              key={from}
              className={styles.shade}
              x={xAt(from)}
              y={edge.top}
              width={xAt(to) - xAt(from)}
              height={height - edge.top - edge.bottom}
            />
          ))}
          <ValueAxis {...{ ticks, yOf, format }} right={width - edge.right} />
          <TimeAxis span={span} xAt={xAt} most={inner / pxPerTick} y={height - 5} />
          {lines.map(({ name, values }, index) => (
            <Curve key={name} look={lineClass(index)} {...{ values, xOf, yOf }} />
          ))}
          {lines.length > 1 && <EndLabels lines={lines} x={width - edge.right - 4} yOf={yOf} />}
          {step !== undefined && (
            <line
              className={styles.cursor}
              x1={xOf(step)}
              x2={xOf(step)}
              y1={edge.top}
              y2={height - edge.bottom}
            />
          )}
        </svg>
      )}
      <Legend {...{ lines, format, span, step }} />
    </div>
  );
}

type CurveProps = {
  look: string;
  values: Values;
  xOf: (index: number) => number;
  yOf: (value: number) => number;
};

function Curve({ look, values, xOf, yOf }: CurveProps) {
  const alone = values.flatMap((value, index) =>
    value !== null && isAlone(values, index) ? [{ index, value }] : [],
  );
  return (
    <g className={look}>
      <path d={linePath(values, xOf, yOf)} />
      {alone.map(({ index, value }) => (
        <circle key={index} className={styles.dot} cx={xOf(index)} cy={yOf(value)} r={2.5} />
      ))}
    </g>
  );
}

type EndLabelsProps = { lines: readonly Line[]; x: number; yOf: (value: number) => number };

/** The name of each line above its end; one that ends too close to another moves down. */
function EndLabels({ lines, x, yOf }: EndLabelsProps) {
  const ends = lines.flatMap(({ name, values }) => {
    const value = values.findLast((one) => one !== null);
    return value == null ? [] : [{ name, y: Math.max(edge.top + 4, yOf(value) - 6) }];
  });
  return spreadOut(ends, height - edge.bottom).map(({ name, y }) => (
    <text key={name} className={styles.end} x={x} y={y}>
      {name}
    </text>
  ));
}

type ValueAxisProps = Pick<LineChartProps, "format"> & {
  ticks: readonly number[];
  yOf: (value: number) => number;
  right: number;
};

function ValueAxis({ ticks, yOf, format, right }: ValueAxisProps) {
  return ticks.map((tick) => (
    <g key={tick}>
      <line className={styles.grid} x1={edge.left} x2={right} y1={yOf(tick)} y2={yOf(tick)} />
      <text className={styles.value} x={edge.left - 8} y={yOf(tick) + 4}>
        {format(tick)}
      </text>
    </g>
  ));
}

const lineClass = (index: number) =>
  classes(styles.line, index === 1 && styles.dashed, index === 2 && styles.dotted);

type TimeAxisProps = { span: Span; xAt: (time: number) => number; most: number; y: number };

/** Hours within a day, dates over more. */
export function TimeAxis({ span, xAt, most, y }: TimeAxisProps) {
  const { language } = useLanguage();
  const hour = new Intl.DateTimeFormat(language, { hour: "numeric", minute: "2-digit" });
  const day = new Intl.DateTimeFormat(language, { day: "numeric", month: "short" });
  return timeTicks(span, most).map(({ at, isDay }) => (
    <text key={at} className={styles.time} x={xAt(at)} y={y}>
      {(isDay ? day : hour).format(at)}
    </text>
  ));
}

type LegendProps = Pick<LineChartProps, "lines" | "format" | "span"> & { step: number | undefined };

function Legend({ lines, format, span, step }: LegendProps) {
  const { language } = useLanguage();
  const steps = lines[0]?.values.length ?? 1;
  const at = span.from + ((step ?? 0) / steps) * (span.to - span.from);
  const time = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" });
  // The heading names a line that is alone.
  const named = lines.length > 1 || step !== undefined ? lines : [];
  return (
    <p className={styles.legend} aria-hidden="true">
      {named.map(({ name, values }, index) => {
        const value = step === undefined ? undefined : values[step];
        return (
          <span key={name} className={styles.entry}>
            <svg width="24" height="8" aria-hidden="true">
              <path className={lineClass(index)} d="M2 4h20" />
            </svg>
            {name}
            {step !== undefined && <b>{value === null || value === undefined ? "–" : format(value)}</b>}
          </span>
        );
      })}
      {step !== undefined && <span className={styles.moment}>{time.format(at)}</span>}
    </p>
  );
}
