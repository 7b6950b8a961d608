import { Histogram, type Registry } from "prom-client";

type Values = Readonly<Record<string, readonly string[]>>;
type LabelsOf<V extends Values> = { [K in keyof V]: V[K][number] };

/**
 * A histogram of how long a kind of work takes, in seconds; the result observes one piece of work. Every combination of the
 * values of the labels starts at 0, since Prometheus sees no increase in a series that begins at 1; with a label whose values
 * are not listed none does.
 */
export function createDurations<const V extends Values>(
  registry: Registry,
  about: { name: string; help: string; buckets: number[]; labels: V },
): (labels: LabelsOf<V>, seconds: number) => void {
  const { labels, ...declared } = about;
  const histogram = new Histogram({ ...declared, labelNames: Object.keys(labels), registers: [registry] });
  const combinations = Object.entries(labels).reduce<Record<string, string>[]>(
    (all, [label, values]) => all.flatMap((one) => values.map((value) => ({ ...one, [label]: value }))),
    [{}],
  );
  for (const combination of combinations) histogram.zero(combination);
  return (given, seconds) => histogram.observe(given, seconds);
}

/** Runs `work` and observes whether it succeeded and how many seconds it took. */
export async function timed<T>(
  observe: (result: "done" | "failed", seconds: number) => void,
  work: () => Promise<T>,
): Promise<T> {
  const startedAt = performance.now();
  const secondsSince = () => (performance.now() - startedAt) / 1_000;
  try {
    const value = await work();
    observe("done", secondsSince());
    return value;
  } catch (error) {
    observe("failed", secondsSince());
    throw error;
  }
}
