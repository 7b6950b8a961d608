// Spans of the work of one process (docs/reference/tracing.md).

type Attributes = Readonly<Record<string, string | number | boolean>>;

export type SpanOptions = {
  kind: "server" | "client" | "internal";
  /** W3C `traceparent` of the span above; without one it is the span that runs here, if any. */
  parent?: string | undefined;
  attributes?: Attributes;
};

/** Work that is over; `ms` is how long it took. */
export type EndedWork = { ms: number; attributes?: Attributes; error?: unknown };

export type Tracing = {
  /** False: nothing is recorded, and callers spare themselves the rest. */
  isOn: boolean;
  /** Runs work in a span. `traceparent` is that span's, for what is called; a failure of the work is the span's too. */
  run: <T>(
    name: string,
    options: SpanOptions,
    work: (traceparent: string | undefined) => Promise<T>,
  ) => Promise<T>;
  /** Records work that has just ended below the span that runs here; nothing without one. */
  record: (name: string, work: EndedWork) => void;
  /** `traceparent` of the span that runs here. */
  current: () => string | undefined;
  /** Sends what is left, for a few seconds at most. */
  close: () => Promise<void>;
};

/** What a process does without a collector: nothing. */
export const noTracing: Tracing = {
  isOn: false,
  run: (_name, _options, work) => work(undefined),
  record: () => undefined,
  current: () => undefined,
  close: () => Promise.resolve(),
};

export type TracingOptions = {
  service: string;
  version: string;
  /** Names the process among its replicas. */
  instance: string;
  /** Variables by the names that OpenTelemetry has for them. */
  collector: { OTEL_EXPORTER_OTLP_ENDPOINT?: string; OTEL_TRACES_SAMPLER_ARG?: string };
  /** The name of a refusal, and whether it is a failure of ours rather than an answer. */
  describeError: (error: unknown) => { name?: string; isFailure: boolean };
  /** Told once a minute at most, with what went wrong. */
  onProblem: (message: string) => void;
};

/**
 * Spans go to the collector that `OTEL_EXPORTER_OTLP_ENDPOINT` names (OTLP over HTTP); without one nothing is loaded and
 * nothing recorded. Throws an Error with one sentence when a variable is wrong.
 */
export async function startTracing(options: TracingOptions): Promise<Tracing> {
  const endpoint = options.collector.OTEL_EXPORTER_OTLP_ENDPOINT?.trim();
  if (!endpoint) return noTracing;
  const url = tracesUrl(endpoint);
  const share = sampledShare(options.collector.OTEL_TRACES_SAMPLER_ARG);
  // Not at the top: the libraries are a tenth of the memory of a small process.
  const { openTracing } = await import("./open-telemetry.ts");
  return openTracing({ ...options, url, share });
}

function tracesUrl(endpoint: string): string {
  const url = URL.parse(endpoint);
  if (url && ["http:", "https:"].includes(url.protocol)) {
    url.pathname = `${url.pathname.replace(/\/$/, "")}/v1/traces`;
    return url.href;
  }
  throw new Error(
    `OTEL_EXPORTER_OTLP_ENDPOINT is ${JSON.stringify(endpoint)}; it must be an http or https URL such as http://collector:4318`,
  );
}

function sampledShare(text: string | undefined): number {
  if (text === undefined || text === "") return 1;
  const share = Number(text);
  if (share >= 0 && share <= 1) return share;
  throw new Error(`OTEL_TRACES_SAMPLER_ARG is ${text}; it must be a number from 0 to 1, such as 0.1`);
}
