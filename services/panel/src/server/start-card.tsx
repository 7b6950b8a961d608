import { clockOffsetMs } from "../api/clock.ts";
import { Card, Muted, Row, Stack } from "../ui/layout.tsx";
import { Notice } from "../ui/notice.tsx";
import { useNow } from "../ui/now.ts";
import { Progress } from "../ui/progress.tsx";
import { Steps } from "../ui/steps.tsx";
import { visible } from "../words/visible.ts";
import { useWords, type Words } from "../words/words.ts";
import {
  isStarting,
  type Outlook,
  outlookOf,
  type Problem,
  problemOf,
  type StartFacts,
  shareOf,
  stepStates,
} from "./start-progress.ts";
import type { FullStatus } from "./use-server.ts";

const tickMs = 500;
const secondsUntilMinutes = 120;

function outlookWords({ start }: Words, outlook: Outlook): string {
  if (outlook.kind !== "about") return start[outlook.kind];
  const { seconds } = outlook;
  return start.about(
    seconds < secondsUntilMinutes ? start.seconds(seconds) : start.minutes(Math.round(seconds / 60)),
  );
}

/** How a server starts, or why it does not; nothing while there is nothing to say. */
export function StartCard({ status }: { status: FullStatus }) {
  const { start } = useWords();
  const problem = problemOf(status);
  if (status.phase === "Failed") return <FailedStart status={status} problem={problem} />;
  if (isStarting(status)) return <Progressing status={status} problem={problem} />;
  if (!problem) return null;
  return (
    <Notice kind="waiting">
      <strong>{start.problems[problem.reason].title}</strong>
      <ProblemHelp problem={problem} />
    </Notice>
  );
}

function FailedStart({ status, problem }: { status: FullStatus; problem: Problem | undefined }) {
  const { server, start } = useWords();
  const next = status.startGaveUp ? server.gaveUp : server.failed;
  return (
    <Notice kind="failed">
      {problem && <strong>{start.problems[problem.reason].title}</strong>}
      {problem && <ProblemHelp problem={problem} />}
      {problem?.reason !== "InvalidSpec" && <p>{next}</p>}
    </Notice>
  );
}

function Progressing({ status, problem }: { status: FullStatus; problem: Problem | undefined }) {
  const words = useWords();
  const { start } = words;
  const now = useNow(tickMs) + clockOffsetMs();
  const { autoRestarts = 0 } = status;
  const steps = stepStates(status).map(({ step, state }) => ({
    key: step,
    title: start.steps[step],
    state,
    word: start.states[state],
  }));
  return (
    <Card title={start.title}>
      <Progress label={start.bar} value={shareOf(status, now)} max={1} />
      <Row isSpread>
        {!problem && <Muted>{outlookWords(words, outlookOf(status, now))}</Muted>}
        {autoRestarts > 0 && <Muted>{start.attempt(autoRestarts)}</Muted>}
      </Row>
      {problem && (
        <Notice kind="failed">
          <strong>{start.problems[problem.reason].title}</strong>
          <ProblemHelp problem={problem} />
        </Notice>
      )}
      <Steps label={start.list} steps={steps} />
    </Card>
  );
}

function ProblemHelp({ problem }: { problem: Problem }) {
  const { start } = useWords();
  return (
    <>
      <p>{start.problems[problem.reason].help}</p>
      {problem.detail !== undefined && (
        <p>
          {start.detail} <bdi>{visible(problem.detail)}</bdi>
        </p>
      )}
    </>
  );
}

/** The same in a few words, beside the phase in a list. */
export function StartNote({ server }: { server: StartFacts }) {
  const { start } = useWords();
  const problem = problemOf(server);
  if (problem) return <>{start.problems[problem.reason].title}</>;
  return isStarting(server) ? <OutlookNote server={server} /> : null;
}

function OutlookNote({ server }: { server: StartFacts }) {
  const words = useWords();
  const now = useNow(tickMs) + clockOffsetMs();
  return <>{outlookWords(words, outlookOf(server, now))}</>;
}

/** The bar with its words, for a card of the overview. */
export function StartBar({ server }: { server: StartFacts }) {
  const { start } = useWords();
  const now = useNow(tickMs) + clockOffsetMs();
  return (
    <Stack isTight>
      <Progress label={start.bar} value={shareOf(server, now)} max={1} />
      <Muted>
        <StartNote server={server} />
      </Muted>
    </Stack>
  );
}
