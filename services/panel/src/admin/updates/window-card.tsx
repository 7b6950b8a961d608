import { useState } from "react";
import { poll, useAction, useOperation } from "../../api/query.ts";
import { Button } from "../../ui/button.tsx";
import { Failure } from "../../ui/failure.tsx";
import { Field } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { Card, Facts, Muted, Row, Stack } from "../../ui/layout.tsx";
import { Loading } from "../../ui/loading.tsx";
import { useNow } from "../../ui/now.ts";
import { Status, type StatusLook } from "../../ui/status.tsx";
import { Time } from "../../ui/time.tsx";
import { failedToast, useToast } from "../../ui/toasts.tsx";
import { formatDate } from "../../words/format.ts";
import { type HealthWords, useHealthWords } from "../../words/health-words.ts";
import { clockOf, type Moment, ownZone } from "../../words/local-time.ts";
import { useLanguage, useWords } from "../../words/words.ts";
import {
  decideWindow,
  draftOf,
  stateOfWindow,
  type UpdateWindow,
  type WindowDraft,
  type WindowState,
} from "./window.ts";

const minuteMs = 60_000;
const noWindow = { start: null, end: null };

/** When updates may be applied: advice to people. */
export function WindowCard() {
  const { updates } = useHealthWords();
  const { data, error, refetch } = useOperation("updates.readWindow", {}, { every: poll.history });
  return (
    <Card title={updates.window}>
      <Muted>{updates.windowHelp}</Muted>
      {error && <Failure error={error} retry={() => void refetch()} />}
      {!data && !error && <Loading />}
      {data && <SetWindow window={data} />}
      {data && <WindowForm window={data} />}
    </Card>
  );
}

const looks: Record<Exclude<WindowState, "none">, StatusLook> = {
  planned: "starting",
  open: "running",
  over: "asleep",
};

function SetWindow({ window }: { window: UpdateWindow }) {
  const words = useWords();
  const { updates } = useHealthWords();
  const { language } = useLanguage();
  const toast = useToast();
  const write = useAction("updates.writeWindow", ["updates.readWindow"]);
  const state = stateOfWindow(window, useNow(minuteMs));
  const { start, end } = window;
  if (state === "none" || start === null || end === null) return <Muted>{updates.noWindow}</Muted>;
  const setAgain = () =>
    write.mutate({ start, end }, { onError: (error) => toast(failedToast(words, error)) });
  const cleared = () =>
    toast({ kind: "done", text: updates.cleared, action: { word: words.schedules.undo, run: setAgain } });
  const moment = (at: string) => (
    <>
      {formatDate(Date.parse(at), language)} · <Time at={at} />
    </>
  );
  return (
    <Stack isTight>
      <Row isSpread>
        <Status look={looks[state]} word={updates.windowStates[state]} />
        <Button isPending={write.isPending} onPress={() => write.mutate(noWindow, { onSuccess: cleared })}>
          {updates.clear}
        </Button>
      </Row>
      <Facts
        rows={[
          [updates.from, moment(start)],
          [updates.to, moment(end)],
        ]}
      />
      <Failure error={write.error} />
    </Stack>
  );
}

function WindowForm({ window }: { window: UpdateWindow }) {
  const { updates } = useHealthWords();
  const toast = useToast();
  const zone = ownZone();
  const [draft, setDraft] = useState<WindowDraft>(() => draftOf(window, zone));
  const [isTried, setTried] = useState(false);
  const write = useAction("updates.writeWindow", ["updates.readWindow"]);
  const decided = decideWindow(draft, zone);
  const submit = () => {
    setTried(true);
    if (!decided.window || write.isPending) return;
    write.mutate(decided.window, { onSuccess: () => toast({ kind: "done", text: updates.saved }) });
  };
  const fieldOf = (end: keyof WindowDraft, label: string) => {
    const problem = isTried ? decided.problems[end] : undefined;
    return (
      <Field
        label={label}
        name={end}
        type="datetime-local"
        value={draft[end]}
        onChange={(typed) => setDraft({ ...draft, [end]: typed })}
        error={problem && updates.problems[problem]}
        description={changeWords(decided.changes[end], updates)}
      />
    );
  };
  return (
    <Form onSubmit={submit}>
      <Stack>
        <Row>
          {fieldOf("start", updates.from)}
          {fieldOf("end", updates.to)}
        </Row>
        <Muted>{updates.zone(zone)}</Muted>
        <Row>
          <Button type="submit" kind="primary" isPending={write.isPending}>
            {updates.set}
          </Button>
        </Row>
        <Failure error={write.error} />
      </Stack>
    </Form>
  );
}

function changeWords(
  change: Moment["change"],
  { skipped, doubled }: HealthWords["updates"],
): string | undefined {
  if (!change) return undefined;
  return change.kind === "doubled"
    ? doubled(clockOf(change.wanted))
    : skipped(clockOf(change.wanted), clockOf(change.shown));
}
