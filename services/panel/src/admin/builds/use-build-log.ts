import { useEffect, useEffectEvent, useState, useSyncExternalStore } from "react";
import { ApiError } from "../../api/error.ts";
import { createBlockParser } from "../../api/event-blocks.ts";
import { createTextReader, openStream } from "../../api/stream.ts";
import { createLogBuffer, type LogBuffer, type LogLine } from "../../server/console/log-buffer.ts";
import { createResume, type Resume } from "../../server/console/resume.ts";
import { pause, useInSight } from "../../server/console/use-console.ts";
import { type BuildLogEvent, currentStep, eventOf, type StepName } from "./build-log.ts";

type BuildLogState = "connecting" | "open" | "broken" | "ended" | "refused";

const firstDelayMs = 500;
const longestDelayMs = 15_000;

type Following = {
  id: string;
  buffer: LogBuffer;
  resume: Resume;
  /** The step whose lines come, over all connections. */
  place: { step: StepName | undefined };
  setState: (state: BuildLogState) => void;
  onStep: () => void;
};

/** The log of a build while the tab is in sight; `onStep` is called when a step changes and at the end. */
export function useBuildLog(
  id: string,
  onStep: () => void,
): { lines: readonly LogLine[]; state: BuildLogState } {
  const [kept] = useState(() => ({
    buffer: createLogBuffer(),
    resume: createResume(),
    place: { step: undefined as StepName | undefined },
  }));
  const [state, setState] = useState<BuildLogState>("connecting");
  const isInSight = useInSight();
  const isOver = state === "ended" || state === "refused";
  const noteStep = useEffectEvent(onStep);
  useEffect(() => {
    if (!isInSight || isOver) return;
    const stop = new AbortController();
    void follow({ ...kept, id, setState, onStep: () => noteStep() }, stop.signal);
    return () => stop.abort();
  }, [id, isInSight, isOver, kept]);
  const lines = useSyncExternalStore(kept.buffer.subscribe, kept.buffer.lines);
  return { lines, state };
}

async function follow(following: Following, signal: AbortSignal): Promise<void> {
  const { setState } = following;
  let delayMs = firstDelayMs;
  while (!signal.aborted) {
    try {
      setState("connecting");
      const end = await followOnce(following, signal);
      if (end !== undefined) return setState(end);
      delayMs = firstDelayMs;
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof ApiError)) throw error;
      const isRefused = error.status === 401 || error.status === 403 || error.status === 404;
      setState(isRefused ? "refused" : "broken");
      if (isRefused) return;
      delayMs = Math.max(Math.min(delayMs * 2, longestDelayMs), (error.retryAfterSeconds ?? 0) * 1_000);
    }
    await pause(delayMs, signal);
  }
}

/** One connection; says how the log ended, or undefined when it only broke. */
async function followOnce(
  following: Following,
  signal: AbortSignal,
): Promise<"ended" | "refused" | undefined> {
  const { id, resume, setState, onStep } = following;
  const point = resume.point();
  const headers = point && { "last-event-id": String(point.atSeconds) };
  const response = await openStream("builds.watchLog", { id }, { signal, ...(headers && { headers }) });
  if (response.status === 204) return "ended";
  resume.reconnect();
  setState("open");
  const parse = createBlockParser();
  for await (const chunk of createTextReader(response)) {
    for (const event of parse(chunk).flatMap((block) => eventOf(block) ?? [])) {
      if (event.kind === "revoked") return "refused";
      take(following, event);
      if (event.kind === "end") {
        onStep();
        return "ended";
      }
    }
  }
  return undefined;
}

function take({ buffer, resume, place, onStep }: Following, event: BuildLogEvent): void {
  if (event.kind === "dropped") buffer.appendGap(event.count);
  if (event.kind === "line" && resume.accept(event.id, event.text))
    buffer.append(event.id, event.text, place.step === undefined ? {} : { group: place.step });
  if (event.kind !== "step") return;
  const step = currentStep(place.step, event.step);
  if (step !== undefined && step !== place.step) {
    place.step = step;
    buffer.append(0, step, { group: step, isHeading: true });
  }
  onStep();
}
