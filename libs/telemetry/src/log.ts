import { type LoggerOptions, type Logger as PinoLogger, pino } from "pino";
import { hideSecrets } from "./hide-secrets.ts";

export type Logger = PinoLogger;

/**
 * One JSON line per entry on stdout: `level` as a word, `time` as RFC 3339, `service`, `msg`. Secrets are hidden.
 * `level` is `debug`, `info`, `warn` or `error`.
 */
export function createLogger(service: string, level = "info"): Logger {
  const options: LoggerOptions = {
    level,
    base: { service },
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    // pino's own redaction costs four times the rest of a line (docs/performance.md).
    formatters: { level: (label) => ({ level: label }), log: hideSecrets },
  };
  return pino(options, oncePerTurn());
}

const bufferBytes = 16_000;
let perTurn: { write: (line: string) => void } | undefined;

// A busy gateway logs many requests in one turn of the event loop; they are written together at its end, and the last
// ones when the process exits. One for all loggers: they share stdout.
function oncePerTurn(): { write: (line: string) => void } {
  if (perTurn) return perTurn;
  const stdout = pino.destination({ dest: 1, sync: true, minLength: bufferBytes });
  let isDue = false;
  // Not `flushSync`: it also waits for the disk when stdout is a file, and throws internally when it is a pipe.
  const flush = () => {
    isDue = false;
    stdout.flush();
  };
  process.on("exit", () => stdout.flushSync());
  perTurn = {
    write: (line) => {
      stdout.write(line);
      if (isDue) return;
      isDue = true;
      setImmediate(flush);
    },
  };
  return perTurn;
}
