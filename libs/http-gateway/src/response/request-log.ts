// One log line and one count per request (docs/reference/metrics.md, docs/reference/http.md#request-log).

import type { Face } from "@svc/proto";
import { Counter, Histogram, type Logger, type Registry } from "@svc/telemetry";
import { pathOf, type RequestState } from "../request/request-state.ts";

const methods: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** Logged status of a request whose caller disconnected before the response; never sent. */
const callerLeft = 499;

export type RequestLog = {
  /** Logs and counts a request whose response has ended. */
  note: (state: RequestState) => void;
  /** Logs and counts bytes that are not a valid request. */
  noteMalformed: (status: number, requestId: string) => void;
  /** Counts a request refused by a limit. */
  noteLimited: (scope: string) => void;
  /** Logs the polls that were counted since the last time. */
  close: () => void;
};

export function createRequestLog(options: {
  face: Face;
  registry: Registry;
  log: Logger;
  quietPaths: readonly string[];
  unchangedLogMs: number;
}): RequestLog {
  const { face, registry, log } = options;
  const quiet: ReadonlySet<string> = new Set(options.quietPaths);
  const requests = new Counter({
    name: "svc_http_requests_total",
    help: "Requests answered, by route pattern and status code.",
    labelNames: ["face", "method", "route", "code"],
    registers: [registry],
  });
  const durations = new Histogram({
    name: "svc_http_request_duration_seconds",
    help: "Time from the end of the request headers to the end of the response, without event streams.",
    labelNames: ["face", "route"],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  const limited = new Counter({
    name: "svc_rate_limited_total",
    help: "Requests refused by a rate limit.",
    labelNames: ["scope"],
    registers: [registry],
  });
  for (const scope of ["auth_door", "api_token"]) limited.inc({ scope }, 0);

  const unchanged = createUnchangedLog({ face, log, everyMs: options.unchangedLogMs });

  const note = (state: RequestState) => {
    const { request, response, route } = state;
    const method = request.method ?? "";
    const status = response.headersSent ? response.statusCode : callerLeft;
    const durationMs = performance.now() - state.startedAt;
    requests.inc({ face, method: methods.has(method) ? method : "other", route, code: String(status) });
    if (state.isTimed) durations.observe({ face, route }, durationMs / 1_000);
    if (status < 400 && quiet.has(route)) return;
    if (status === 304) {
      unchanged.count(method, state);
      return;
    }
    log.info(
      {
        face,
        method,
        route,
        path: pathOf(request),
        status,
        duration_ms: Math.round(durationMs * 100) / 100,
        bytes: state.bytes,
        request_id: state.id,
        ...(state.traceparent !== undefined && { trace_id: state.traceparent.split("-")[1] }),
        principal: state.principal,
      },
      "request",
    );
  };
  return {
    note,
    noteMalformed: (status, requestId) => {
      requests.inc({ face, method: "other", route: "unmatched", code: String(status) });
      log.info({ face, route: "unmatched", status, request_id: requestId, principal: "" }, "request");
    },
    noteLimited: (scope) => limited.inc({ scope }),
    close: unchanged.flush,
  };
}

const mostPollers = 1_000;

// A poll that is answered 304 costs less than its log line, so these are logged as counts by route and principal.
function createUnchangedLog(options: { face: Face; log: Logger; everyMs: number }) {
  const { face, log, everyMs } = options;
  const counts = new Map<string, { method: string; route: string; principal: string; count: number }>();
  let timer: NodeJS.Timeout | undefined;
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    for (const entry of counts.values()) log.info({ face, ...entry, status: 304 }, "unchanged polls");
    counts.clear();
  };
  const count = (method: string, { route, principal }: RequestState) => {
    const key = `${principal} ${method} ${route}`;
    const known = counts.get(key);
    if (known) {
      known.count += 1;
      return;
    }
    if (counts.size >= mostPollers) flush();
    counts.set(key, { method, route, principal, count: 1 });
    timer ??= setTimeout(flush, everyMs).unref();
  };
  return { count, flush };
}
