import { once } from "node:events";
import type { FollowedEvent } from "@svc/mesh";
import { owners, streamName } from "@svc/proto";
import { joinAsOperator } from "../operator-mesh.ts";
import { UsageError } from "../output.ts";
import { momentOf } from "../time.ts";

type EventOptions = { data: string; follow: boolean; since?: string; json?: boolean };

/**
 * Prints events as they happen, from `--since` on, until it is interrupted or, without following, until
 * all stored events are printed. Subjects are those of NATS: `*` is one word, `>` the rest.
 */
export async function followEvents(subject: string, options: EventOptions): Promise<void> {
  const since = options.since === undefined ? undefined : momentOf(options.since, "--since");
  const mesh = await joinAsOperator(options.data);
  const print = (event: FollowedEvent) =>
    process.stdout.write(`${options.json ? JSON.stringify(event) : line(event)}\n`);
  try {
    const caughtUp = filtersOf(subject).map(
      ({ stream, filter }) =>
        new Promise<void>((resolve) => {
          mesh.follow({
            stream,
            subject: filter,
            onEvent: print,
            onCaughtUp: resolve,
            ...(since ? { since } : {}),
          });
        }),
    );
    if (!options.follow) await Promise.all(caughtUp);
    else await Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]);
  } finally {
    await mesh.drain(1_000);
  }
}

// A stream belongs to one owner, so a subject without an owner is read from each of them.
function filtersOf(subject: string): { stream: string; filter: string }[] {
  const [, , owner] = subject.split(".");
  const wanted = owners.filter(
    (name) => owner === undefined || owner === "*" || owner === ">" || owner === name,
  );
  const isEvent = subject === ">" || subject.startsWith("svc.evt.");
  if (!isEvent || wanted.length === 0) {
    throw new UsageError(`${subject}: events begin with svc.evt. and one of ${owners.join(", ")}`);
  }
  return wanted.map((name) => ({
    stream: streamName(name),
    filter: wanted.length === 1 ? subject : `svc.evt.${name}.${subject.split(".").slice(3).join(".") || ">"}`,
  }));
}

export type StoredEvent = FollowedEvent;

/** All stored events since a moment, stream by stream. */
export async function collectEvents(data: string, since = new Date(0)): Promise<StoredEvent[]> {
  const mesh = await joinAsOperator(data);
  const events: StoredEvent[] = [];
  try {
    const ends = filtersOf("svc.evt.>").map(
      ({ stream, filter }) =>
        new Promise<void>((onCaughtUp) => {
          const onEvent = (event: StoredEvent) => void events.push(event);
          mesh.follow({ stream, subject: filter, onEvent, onCaughtUp, since });
        }),
    );
    await Promise.all(ends);
    return events;
  } finally {
    await mesh.drain(1_000);
  }
}

function line({ at, subject, data }: FollowedEvent): string {
  const words =
    typeof data === "object" && data !== null
      ? Object.entries(data).map(([key, value]) => `${key}=${String(value)}`)
      : [String(data)];
  return `${at}  ${subject.replace(/^svc\.evt\./, "")}  ${words.join(" ")}`;
}
