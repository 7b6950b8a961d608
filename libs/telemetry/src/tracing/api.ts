// Spans of the work of one process (docs/reference/tracing.md).

type Attributes = Readonly<Record<string, string | number | boolean>>;

type SpanOptions = {
  kind: "server" | "client" | "internal";
  /** W3C `traceparent` of the span above; without one it is the span that runs here, if any. */
  parent?: string | undefined;
  attributes?: Attributes;
};

/** Work that is over; `ms` is how long it took. */
type EndedWork = { ms: number; attributes?: Attributes; error?: unknown };

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
