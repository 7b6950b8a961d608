// The part of tracing that is loaded only where there is a collector.

import { AsyncLocalStorage } from "node:async_hooks";
import {
  type Context,
  DiagLogLevel,
  diag,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import type { Tracing, TracingOptions } from "./api.ts";

type Opening = TracingOptions & { url: string; share: number };

const exportTimeoutMs = 5_000;
const closeWithinMs = 3_000;
const problemEveryMs = 60_000;
const kinds = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL };

/** A queue of at most 2,048 spans is sent every 5 s, 512 at a time; what does not fit is dropped. */
export function openTracing(options: Opening): Tracing {
  const { service, version, instance, url, share } = options;
  reportProblems(options.onProblem);
  const noteFailure = (span: Span, error: unknown) => {
    const { name, isFailure } = options.describeError(error);
    if (name !== undefined) span.setAttribute("error.type", name);
    if (!isFailure) return;
    span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.message : "" });
  };
  const exporter = new OTLPTraceExporter({ url, timeoutMillis: exportTimeoutMs });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      "service.name": service,
      "service.namespace": "svc",
      "service.version": version,
      "service.instance.id": instance,
    }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(share) }),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  });
  const tracer = provider.getTracer("svc");
  const running = new AsyncLocalStorage<Span>();
  const contextOf = (parent: string | undefined): Context => {
    const above = parent === undefined ? running.getStore()?.spanContext() : spanContextOf(parent);
    return above ? trace.setSpanContext(ROOT_CONTEXT, above) : ROOT_CONTEXT;
  };
  return {
    isOn: true,
    run: async (name, { kind, parent, attributes = {} }, work) => {
      const span = tracer.startSpan(name, { kind: kinds[kind], attributes }, contextOf(parent));
      try {
        return await running.run(span, work, traceparentOf(span));
      } catch (error) {
        noteFailure(span, error);
        throw error;
      } finally {
        span.end();
      }
    },
    record: (name, { ms, attributes = {}, error }) => {
      const above = running.getStore();
      if (!above?.isRecording()) return;
      const options = { kind: SpanKind.CLIENT, attributes, startTime: Date.now() - ms };
      const span = tracer.startSpan(name, options, trace.setSpan(ROOT_CONTEXT, above));
      if (error !== undefined) noteFailure(span, error);
      span.end();
    },
    current: () => {
      const span = running.getStore();
      return span && traceparentOf(span);
    },
    close: async () => {
      const limit = AbortSignal.timeout(closeWithinMs);
      const over = new Promise<void>((resolve) => limit.addEventListener("abort", () => resolve()));
      await Promise.race([provider.shutdown().catch(() => undefined), over]);
    },
  };
}

const shape = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

function spanContextOf(traceparent: string) {
  const [, traceId, spanId, flags] = shape.exec(traceparent) ?? [];
  if (!traceId || !spanId || !flags) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & TraceFlags.SAMPLED, isRemote: true };
}

function traceparentOf(span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}`;
}

/** The SDK tells its problems, such as a collector that does not answer, to one logger of the process. */
function reportProblems(onProblem: (message: string) => void): void {
  let nextAt = 0;
  const tell = (message: string) => {
    if (Date.now() < nextAt) return;
    nextAt = Date.now() + problemEveryMs;
    onProblem(message.slice(0, 500));
  };
  const quiet = () => undefined;
  diag.setLogger({ error: tell, warn: tell, info: quiet, debug: quiet, verbose: quiet }, DiagLogLevel.WARN);
}
