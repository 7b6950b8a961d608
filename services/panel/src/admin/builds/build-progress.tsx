import { Card, Muted } from "../../ui/layout.tsx";
import { useNow } from "../../ui/now.ts";
import { Progress } from "../../ui/progress.tsx";
import { type Step, Steps } from "../../ui/steps.tsx";
import { formatClock } from "../../words/format.ts";
import { type PackWords, usePackWords } from "../../words/pack-words.ts";
import { durationMs, type StepProgress } from "./build-log.ts";
import { type Build, isActive } from "./builds-view.ts";

/** The steps of a build with what each has taken, how far the whole is, and when it is expected to end. */
export function BuildProgress({ build }: { build: Build }) {
  const words = usePackWords();
  const { builds } = words;
  const now = useNow(1_000);
  const { progress, status } = build;
  if (!progress) return null;
  const { percent, eta, steps } = progress;
  // A later scan has none.
  if (steps.length === 0 && !isActive(status)) return null;
  const leftSeconds = eta === undefined ? undefined : (Date.parse(eta) - now) / 1_000;
  return (
    <Card title={builds.progress}>
      {isActive(status) && (
        <>
          <Progress label={builds.percent(percent)} value={percent} max={100} />
          <Muted>
            {builds.percent(percent)}
            {leftSeconds !== undefined &&
              ` · ${leftSeconds > 0 ? builds.left(formatClock(leftSeconds)) : builds.longer}`}
          </Muted>
        </>
      )}
      <Steps label={builds.progress} steps={steps.map((step) => shownStep(step, words, now))} />
    </Card>
  );
}

const looks = {
  pending: "waiting",
  running: "running",
  succeeded: "done",
  failed: "failed",
  skipped: "waiting",
} as const;

function shownStep(step: StepProgress, { builds }: PackWords, now: number): Step {
  const { name, state } = step;
  const took = state === "skipped" ? undefined : durationMs(step, now);
  const word = builds.stepStates[state];
  return {
    key: name,
    title: builds.steps[name],
    state: looks[state],
    word: took === undefined ? word : `${word} · ${formatClock(took / 1_000)}`,
  };
}
