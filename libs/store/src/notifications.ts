import type { Logger } from "@svc/telemetry";
import pg from "pg";

export type Notifications = {
  /**
   * True when every notification of a change that was committed before this call has been passed on; false when that
   * cannot be said, because the connection is or was lost.
   */
  confirm: () => Promise<boolean>;
  close: () => Promise<void>;
};

const retryMs = 1_000;
const answerWithinMs = 3_000;

/**
 * Listens to one channel of PostgreSQL on a connection of its own until closed. `onListening` is called after every
 * (re)connection: what was notified before it is lost, so read everything then.
 */
export function listenForNotifications(options: {
  url: string;
  schema: string;
  channel: string;
  onNotification: (payload: string) => void;
  onListening: () => void;
  log: Logger;
}): Notifications {
  const closing = new AbortController();
  const { signal } = closing;
  let current: pg.Client | undefined;
  const running = (async () => {
    while (!signal.aborted) {
      try {
        await listenOnce(options, signal, (client) => {
          current = client;
        });
      } catch (error) {
        const about = { channel: options.channel, error: (error as Error).message };
        if (!signal.aborted) options.log.warn(about, "listening to the database failed; retrying");
      }
      current = undefined;
      await pause(retryMs, signal);
    }
  })();
  return {
    confirm: async () => {
      const client = current;
      if (!client) return false;
      try {
        // PostgreSQL sends what it has to notify before it is ready for the next query.
        await client.query("select 1");
        return current === client;
      } catch {
        if (current === client) current = undefined;
        void client.end().catch(() => {});
        return false;
      }
    },
    close: async () => {
      closing.abort();
      await running;
    },
  };
}

async function listenOnce(
  options: Parameters<typeof listenForNotifications>[0],
  signal: AbortSignal,
  onClient: (client: pg.Client) => void,
): Promise<void> {
  const { url, schema, channel } = options;
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: answerWithinMs,
    query_timeout: answerWithinMs,
    keepAlive: true,
    application_name: `svc-${schema}-listen`,
  });
  const ended = new Promise<void>((resolve) => {
    client.on("end", resolve);
    client.on("error", () => resolve());
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
  client.on("notification", ({ payload }) => options.onNotification(payload ?? ""));
  try {
    await client.connect();
    await client.query(`listen ${pg.escapeIdentifier(channel)}`);
    onClient(client);
    options.onListening();
    await ended;
  } finally {
    // A dead peer never says goodbye, so the end is not waited for without a limit.
    await Promise.race([client.end().catch(() => {}), pause(retryMs, AbortSignal.timeout(retryMs))]);
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    const end = () => {
      clearTimeout(timer);
      resolve();
    };
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  });
}
