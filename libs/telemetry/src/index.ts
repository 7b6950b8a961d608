export { createDurations, timed } from "./durations.ts";
export { startHealthServer } from "./health-server.ts";
export { createLogger, type Logger } from "./log.ts";
export { Counter, createRegistry, Gauge, Histogram, type Registry } from "./metrics.ts";
export { noTracing, type Tracing } from "./tracing/api.ts";
export { startTracing } from "./tracing/tracing.ts";
