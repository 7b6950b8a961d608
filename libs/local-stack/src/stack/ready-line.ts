/** pino writes one JSON object a line; `msg` is the last key. */
export function isReadyLine(line: string): boolean {
  return line.startsWith("{") && line.includes('"msg":"ready"');
}

/** Where the metrics are, by the port that the line names. */
export function metricsOf(line: string): string | undefined {
  const port = (JSON.parse(line) as { health_port?: unknown }).health_port;
  return typeof port === "number" ? `http://127.0.0.1:${port}/metrics` : undefined;
}
