// One stream of changes for all tabs of a browser, which has six connections to a host: the tab that holds a lock reads it
// and tells the others (docs/reference/panel.md#live). Whoever shows data reads it again when it is told of a change.

import type { QueryClient } from "@tanstack/react-query";
import { background, isAbsent, onReturn } from "./activity.ts";
import type { ChangeNotice } from "./change-effects.ts";
import { ApiError } from "./error.ts";
import { createBlockParser, type EventBlock } from "./event-blocks.ts";
import { createReadAgain } from "./read-again.ts";
import { createTextReader, openStream } from "./stream.ts";

/** `off` before the first connection and while nobody is there. */
export type LiveState = "off" | "live" | "away";
type Message =
  | { kind: "state"; state: LiveState }
  | { kind: "changes"; notices: readonly ChangeNotice[]; id: string }
  | { kind: "reset"; id: string }
  | { kind: "question" };

const lockName = "svc.events";
const firstDelayMs = 500;
const longestDelayMs = 30_000;
/** The leading tab says twice as often that it is there. */
const silenceMs = 40_000;
const checkMs = 10_000;

let state: LiveState = "off";
let heardAt = 0;
let lastId = "";
const stateListeners = new Set<() => void>();
const changeListeners = new Set<(notices: readonly ChangeNotice[]) => void>();
const resetListeners = new Set<() => void>();

export const live = {
  state: () => state,
  subscribe: (listener: () => void) => {
    stateListeners.add(listener);
    return () => void stateListeners.delete(listener);
  },
  /** With all changes that came together: hundreds where staff act on many servers. */
  onChanges: (listener: (notices: readonly ChangeNotice[]) => void) => {
    changeListeners.add(listener);
    return () => void changeListeners.delete(listener);
  },
  /** Anything may have changed; also after each new connection that does not resume. */
  onReset: (listener: () => void) => {
    resetListeners.add(listener);
    return () => void resetListeners.delete(listener);
  },
};

function setState(next: LiveState): void {
  heardAt = Date.now();
  if (next === state) return;
  state = next;
  for (const listener of stateListeners) listener();
}

/** What a tab does with a message, its own or one of the leading tab. */
function take(message: Message): void {
  if (message.kind === "question") return;
  heardAt = Date.now();
  if (message.kind === "state") {
    setState(message.state);
    return;
  }
  lastId = message.id;
  if (message.kind === "changes") for (const listener of changeListeners) listener(message.notices);
  // A tab of another build may lead, and tell in a way that this one does not know: then anything may have changed.
  else for (const listener of resetListeners) listener();
}

/** Follows changes for the signed-in person until the returned function is called. */
export function followChanges(client: QueryClient): () => void {
  const stop = new AbortController();
  const channel = new BroadcastChannel(lockName);
  let turn = new AbortController();
  let isLeading = false;
  const tell = (message: Message) => {
    channel.postMessage(message);
    take(message);
  };
  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    if (data.kind === "question" && isLeading) channel.postMessage({ kind: "state", state });
    if (!isLeading) take(data);
  };
  const stopReading = readAgain(client);
  const start = () => {
    turn = new AbortController();
    const { signal } = turn;
    channel.postMessage({ kind: "question" } satisfies Message);
    void lead(signal, async () => {
      isLeading = true;
      await follow(tell, signal).finally(() => {
        isLeading = false;
      });
    });
  };
  const check = setInterval(() => {
    if (isAbsent() && !turn.signal.aborted) {
      turn.abort();
      setState("off");
    } else if (state === "live" && Date.now() - heardAt > silenceMs) setState("away");
  }, checkMs);
  const resume = () => {
    if (turn.signal.aborted && !stop.signal.aborted) start();
  };
  const stopWaiting = onReturn(resume);
  // A page that is kept for the way back keeps its lock, and would leave the other tabs without a stream.
  window.addEventListener("pagehide", () => turn.abort(), { signal: stop.signal });
  window.addEventListener("pageshow", resume, { signal: stop.signal });
  start();
  return () => {
    stop.abort();
    turn.abort();
    clearInterval(check);
    stopWaiting();
    stopReading();
    channel.close();
    setState("off");
  };
}

/** Runs `work` once this tab is the one that reads; without locks every tab reads for itself. */
async function lead(signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  if (!("locks" in navigator)) return work();
  await navigator.locks.request(lockName, { signal }, work).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}

async function follow(tell: (message: Message) => void, signal: AbortSignal): Promise<void> {
  let delayMs = firstDelayMs;
  while (!signal.aborted) {
    try {
      await followOnce(tell, signal);
      delayMs = firstDelayMs;
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof ApiError)) throw error;
      tell({ kind: "state", state: "away" });
      if (error.status === 401 || error.status === 403) return;
      delayMs = Math.max(Math.min(delayMs * 2, longestDelayMs), (error.retryAfterSeconds ?? 0) * 1_000);
    }
    // All browsers lose a gateway at the same time; they do not come back at the same time.
    await pause(delayMs * (0.5 + Math.random()), signal);
  }
}

async function followOnce(tell: (message: Message) => void, signal: AbortSignal): Promise<void> {
  const response = await openStream(
    "changes.watch",
    {},
    { signal, headers: { ...background, ...(lastId !== "" && { "last-event-id": lastId }) } },
  );
  const parse = createBlockParser();
  for await (const chunk of createTextReader(response)) tellOf(parse(chunk), tell);
}

/** Tells what came in one piece; the changes in it are one message. */
function tellOf(blocks: readonly EventBlock[], tell: (message: Message) => void): void {
  const notices: ChangeNotice[] = [];
  for (const { name, id, data, comment } of blocks) {
    if (id !== "") {
      lastId = id;
      if (state !== "live") tell({ kind: "state", state: "live" });
    }
    if (name === "reset") tell({ kind: "reset", id: lastId });
    else if (name === "paused") tell({ kind: "state", state: "away" });
    else if (name === "" && data !== undefined) notices.push(JSON.parse(data) as ChangeNotice);
    else if (comment !== "") tell({ kind: "state", state });
  }
  if (notices.length > 0) tell({ kind: "changes", notices, id: lastId });
}

function readAgain(client: QueryClient): () => void {
  const { take: onChanges, takeAll, stop } = createReadAgain(client);
  const stopChanges = live.onChanges(onChanges);
  const stopResets = live.onReset(takeAll);
  return () => {
    stop();
    stopChanges();
    stopResets();
  };
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((settle) => {
    const timer = setTimeout(settle, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      settle();
    });
  });
}
