import { type Logger as PinoLogger, pino } from "pino";

export type Logger = PinoLogger;

/** Keys whose values never reach the log, at any depth that we log. */
const secrets = ["password", "token", "code", "cookie", "authorization", "secret"];

/**
 * One JSON line per entry on stdout: `level` as a word, `time` as RFC 3339, `service`, `msg`.
 * `level` is `debug`, `info`, `warn` or `error`.
 */
export function createLogger(service: string, level = "info"): Logger {
  return pino({
    level,
    base: { service },
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label) => ({ level: label }) },
    redact: { paths: secrets.flatMap((key) => [key, `*.${key}`]), censor: "[hidden]" },
  });
}
