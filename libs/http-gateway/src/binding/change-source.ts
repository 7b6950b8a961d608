// Where something changed, and who may know it (docs/reference/events.md#stream). Nobody is asked: rights follow from the
// mirrored views, which are never older than other answers made from them.

import { isDeepStrictEqual } from "node:util";
import type { Mesh, ViewMirror } from "@svc/mesh";
import { type ChangeBinding, eventFilter, type Principal } from "@svc/proto";
import type { Logger } from "@svc/telemetry";
import { type Change, createChangeLog, type LoggedChange } from "./change-log.ts";
import { areFresh } from "./view-rows.ts";

type Facts = unknown;
export type HeardChange = LoggedChange<Facts>;

type ChangeSource = {
  /** Whether changes arrive as they happen and rights are known as they are. */
  isLive: () => boolean;
  /** Looks for an interruption; true when changes may have been missed since the last call. */
  hasMissed: () => boolean;
  /** What has changed since a unix second; undefined when that is not known. */
  since: (second: number) => HeardChange[] | undefined;
  hears: (change: HeardChange, principal: Principal) => boolean;
  close: () => void;
};

export type ChangeSourceDeps = {
  mesh: Pick<Mesh, "listen" | "status">;
  mirrors: { of: ViewMirror; beside: ViewMirror };
  binding: ChangeBinding;
  log: Logger;
  limits: { resumeMs: number; overlapMs: number };
};

const loggedEntries = 50_000;

export function createChangeSource(
  deps: ChangeSourceDeps,
  onChange: (change: HeardChange) => void,
): ChangeSource {
  const { mesh, mirrors, binding } = deps;
  const { rights } = binding;
  const known = createKnownFacts(mirrors, rights.factsOf);
  const { resumeMs: keptMs, overlapMs } = deps.limits;
  const changes = createChangeLog<Facts>({ entries: loggedEntries, keptMs, overlapMs });
  let reconnects = mesh.status().reconnects;

  const note = (change: Change, former?: Facts) => {
    changes.note(change, Date.now(), former);
    onChange({ ...change, formers: former === undefined ? [] : [former] });
  };
  const noteEntry = (key: string) => {
    if (!known.isFilled()) return;
    const { former, isOther } = known.refresh(key);
    note({ type: rights.entryType, key }, isOther ? former : undefined);
  };
  mirrors.of.onChange(noteEntry);
  mirrors.beside.onChange(noteEntry);
  const stopListening = listenToEvents(deps, (change) => {
    if (known.isFilled()) note(change);
  });

  return {
    isLive: () => known.isFilled() && mesh.status().connected && areFresh([mirrors.of, mirrors.beside]),
    hasMissed: () => {
      const isFirst = !known.isFilled() && known.fill();
      const before = reconnects;
      reconnects = mesh.status().reconnects;
      // Events that were published while the connection was away are lost.
      const hasMissed = isFirst || reconnects !== before;
      if (hasMissed) changes.restart(Date.now());
      return hasMissed;
    },
    since: (second) => changes.since(second, Date.now()),
    hears: ({ type, key, formers }, principal) =>
      rights.hears(known.of(key), principal, type) ||
      formers.some((facts) => rights.hears(facts, principal, type)),
    close: stopListening,
  };
}

function listenToEvents(
  { mesh, binding, log }: Pick<ChangeSourceDeps, "mesh" | "binding" | "log">,
  onChange: (change: Change) => void,
): () => void {
  const stops = binding.events.map(({ event, typeOf }) =>
    mesh.listen(eventFilter(event), (subject, body) => {
      try {
        const type = typeOf(JSON.parse(Buffer.from(body).toString()));
        onChange({ type, key: subject.slice(subject.lastIndexOf(".") + 1) });
      } catch (error) {
        log.warn({ subject, err: error }, "an event has an unknown shape; dropped");
      }
    }),
  );
  return () => {
    for (const stop of stops) stop();
  };
}

/** The facts of every entry, with those that were true until its last change. */
function createKnownFacts(
  mirrors: ChangeSourceDeps["mirrors"],
  factsOf: (of: unknown, beside: unknown) => Facts,
) {
  const known = new Map<string, Facts>();
  const nothingKnown = factsOf(undefined, undefined);
  let isFilled = false;
  const read = (key: string): Facts | undefined => {
    const [of, beside] = [decode(mirrors.of.get(key)), decode(mirrors.beside.get(key))];
    return of === undefined && beside === undefined ? undefined : factsOf(of, beside);
  };
  const refresh = (key: string) => {
    const former = known.get(key) ?? nothingKnown;
    const facts = read(key);
    if (facts === undefined) known.delete(key);
    else known.set(key, facts);
    return { former, isOther: !isDeepStrictEqual(former, facts ?? nothingKnown) };
  };
  return {
    isFilled: () => isFilled,
    /** False until both mirrors have their first copy. */
    fill: () => {
      if (!mirrors.of.ready || !mirrors.beside.ready) return false;
      for (const key of [...mirrors.of.keys(), ...mirrors.beside.keys()]) refresh(key);
      isFilled = true;
      return true;
    },
    refresh,
    of: (key: string) => known.get(key) ?? nothingKnown,
  };
}

function decode(bytes: Uint8Array | undefined): unknown {
  return bytes && JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString());
}
