import { useEffect, useRef, useState, useSyncExternalStore } from "react";
import { isAbsent, onReturn } from "../../api/activity.ts";
import { ApiError } from "../../api/error.ts";
import { createTextReader, openStream } from "../../api/stream.ts";
import { createLogBuffer, type LogBuffer, type LogLine } from "./log-buffer.ts";
import { createResume } from "./resume.ts";
import { createEventParser } from "./sse.ts";

type ConsoleState = "connecting" | "open" | "broken" | "asleep" | "ended";

/** A stream of a hidden tab is closed after this: a browser has six connections to a host for all tabs. */
const hiddenMs = 30_000;
const absenceCheckMs = 10_000;
const firstDelayMs = 500;
const longestDelayMs = 15_000;

/** The console of a server, live while `isReadable` and the tab is in sight. */
export function useConsole(
  name: string,
  isReadable: boolean,
): { buffer: LogBuffer; lines: readonly LogLine[]; state: ConsoleState } {
  const [buffer] = useState(() => createLogBuffer());
  const [state, setState] = useState<ConsoleState>("connecting");
  const [resume] = useState(createResume);
  const isInSight = useInSight();
  const latest = useRef(setState);
  useEffect(() => {
    if (!isReadable) return latest.current("asleep");
    if (!isInSight) return;
    const stop = new AbortController();
    void follow({ name, buffer, resume, setState: latest.current }, stop.signal);
    return () => stop.abort();
  }, [name, isReadable, isInSight, buffer, resume]);
  const lines = useSyncExternalStore(buffer.subscribe, buffer.lines);
  return { buffer, lines, state };
}

type Following = {
  name: string;
  buffer: LogBuffer;
  resume: ReturnType<typeof createResume>;
  setState: (state: ConsoleState) => void;
};

async function follow(following: Following, signal: AbortSignal): Promise<void> {
  const { setState } = following;
  let delayMs = firstDelayMs;
  while (!signal.aborted) {
    try {
      setState("connecting");
      const isRevoked = await followOnce(following, signal);
      if (isRevoked) return setState("ended");
      delayMs = firstDelayMs;
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof ApiError)) throw error;
      const next = stateOf(error);
      setState(next);
      if (next === "ended") return;
      delayMs = Math.max(Math.min(delayMs * 2, longestDelayMs), (error.retryAfterSeconds ?? 0) * 1_000);
    }
    await pause(delayMs, signal);
  }
}

function stateOf({ status, code }: ApiError): ConsoleState {
  if (code === "not_running") return "asleep";
  return status === 401 || status === 403 || status === 404 ? "ended" : "broken";
}

/** One connection; true when the right to see the console is gone. */
async function followOnce(
  { name, buffer, resume, setState }: Following,
  signal: AbortSignal,
): Promise<boolean> {
  const point = resume.point();
  const response = await openStream(
    "consoles.watch",
    { name },
    {
      signal,
      ...(point !== undefined && { headers: { "last-event-id": String(point.atSeconds) } }),
    },
  );
  resume.reconnect();
  setState("open");
  const parse = createEventParser();
  for await (const chunk of createTextReader(response)) {
    for (const event of parse(chunk)) {
      if (event.kind === "revoked") return true;
      if (event.kind === "dropped") buffer.appendGap(event.count);
      else if (resume.accept(event.atSeconds, event.text)) buffer.append(event.atSeconds, event.text);
    }
  }
  return false;
}

export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((settle) => {
    const timer = setTimeout(settle, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      settle();
    });
  });
}

/** False once the tab has been hidden for a while or nobody is there; the console goes on as soon as somebody is. */
export function useInSight(): boolean {
  const [isInSight, setInSight] = useState(true);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const note = () => {
      clearTimeout(timer);
      if (document.visibilityState === "visible") setInSight(true);
      else timer = setTimeout(() => setInSight(false), hiddenMs);
    };
    const check = setInterval(() => isAbsent() && setInSight(false), absenceCheckMs);
    const stopWaiting = onReturn(() => document.visibilityState === "visible" && setInSight(true));
    document.addEventListener("visibilitychange", note);
    return () => {
      clearTimeout(timer);
      clearInterval(check);
      stopWaiting();
      document.removeEventListener("visibilitychange", note);
    };
  }, []);
  return isInSight;
}
