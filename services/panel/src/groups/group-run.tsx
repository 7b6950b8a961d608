import { Disclosure } from "../ui/disclosure.tsx";
import { Stack } from "../ui/layout.tsx";
import { Link } from "../ui/link.tsx";
import { List, ListItem } from "../ui/list.tsx";
import { Progress } from "../ui/progress.tsx";
import { Status, type StatusLook } from "../ui/status.tsx";
import { Time } from "../ui/time.tsx";
import { faultWords } from "../words/faults.ts";
import { isolate } from "../words/format.ts";
import { useGroupWords } from "../words/group-words.ts";
import { visible } from "../words/visible.ts";
import { useWords } from "../words/words.ts";
import { progressOf, type Run } from "./draft.ts";

type RunServer = Run["stages"][number][number];

const looks: Record<RunServer["result"], StatusLook> = {
  waiting: "unknown",
  asked: "starting",
  done: "running",
  refused: "failed",
  failed: "failed",
  late: "failed",
  changed: "failed",
  left: "asleep",
  left_out: "asleep",
};

const lookOf = ({ state, direction }: Run): StatusLook => {
  if (state === "running") return direction === "start" ? "starting" : "stopping";
  if (state === "failed") return "failed";
  return state === "done" && direction === "start" ? "running" : "asleep";
};

/** One line on the run under way or the last one. */
export function RunLine({ run }: { run: Run }) {
  const words = useGroupWords();
  const { direction, state, stage, stages, started_at } = run;
  return (
    <div>
      <Status isLive look={lookOf(run)} word={words.states[direction][state]} />
      {state !== "done" && ` · ${words.atStage(stage + 1, stages.length)}`} ·{" "}
      <Time at={started_at} sentence={words.begun} />
    </div>
  );
}

/** How far a run is, and how each server ended; of one that went well only when somebody asks. */
export function RunResults({ name, run }: { name: string; run: Run }) {
  const words = useGroupWords();
  const shown = isolate(visible(name));
  const servers = <Servers label={words.resultsOf(shown)} run={run} />;
  if (run.state === "done") return <Disclosure summary={words.results}>{servers}</Disclosure>;
  return (
    <Stack isTight>
      {run.state === "running" && <Progress label={words.progress(shown)} {...progressOf(run)} />}
      {servers}
    </Stack>
  );
}

function Servers({ label, run }: { label: string; run: Run }) {
  return (
    <List label={label}>
      {run.stages.flat().map((one) => (
        <ListItem
          key={one.name}
          title={
            <Link to={`/servers/${one.name}`}>
              <bdi>{one.name}</bdi>
            </Link>
          }
          details={<Result server={one} />}
        />
      ))}
    </List>
  );
}

function Result({ server: { result, code } }: { server: RunServer }) {
  const words = useWords();
  const { result: resultWords } = useGroupWords();
  return (
    <>
      <Status look={looks[result]} word={resultWords[result]} />
      {code !== undefined && ` ${faultWords(words, { code, message: code })}`}
    </>
  );
}
