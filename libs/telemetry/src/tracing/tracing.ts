// Starts the tracing of a process (docs/reference/tracing.md).

import { noTracing, type Tracing, type TracingOptions } from "./api.ts";

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
