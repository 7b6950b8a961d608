import { useState } from "react";
import { Needs } from "../access/needs.tsx";
import { clockOffsetMs } from "../api/clock.ts";
import { useAction, useOperation } from "../api/query.ts";
import { Button } from "../ui/button.tsx";
import { Failure } from "../ui/failure.tsx";
import { Field } from "../ui/field.tsx";
import { Form } from "../ui/form.tsx";
import { Card, Muted, Row, Stack } from "../ui/layout.tsx";
import { failedToast, useToast } from "../ui/toasts.tsx";
import { formatDate, isolate } from "../words/format.ts";
import { fieldOf, ownZone } from "../words/local-time.ts";
import { useLanguage, useWords } from "../words/words.ts";
import { untilOf } from "./until.ts";
import type { FullStatus } from "./use-server.ts";

const readAgain = ["keepAwakes.read", "servers.viewStatus"] as const;

/** Keeps a server from stopping when it is empty; nothing where it never does. */
export function KeepAwake({ status }: { status: FullStatus }) {
  const { server } = useWords();
  const { name, idleStopSeconds, keptAwakeUntil, retiring } = status;
  if (idleStopSeconds === 0 || retiring !== undefined) return null;
  return (
    <Card title={server.keepAwake}>
      <Stack>
        {keptAwakeUntil === undefined ? (
          <Muted>{server.notKeptAwake}</Muted>
        ) : (
          <Kept name={name} until={keptAwakeUntil} />
        )}
        <Needs rights={["power"]} otherwise="nothing">
          <UntilForm key={keptAwakeUntil} name={name} until={keptAwakeUntil} />
        </Needs>
      </Stack>
    </Card>
  );
}

function Kept({ name, until }: { name: string; until: string }) {
  const words = useWords();
  const { server } = words;
  const { language } = useLanguage();
  const toast = useToast();
  const end = useAction("keepAwakes.end", readAgain);
  const stop = () =>
    end.mutate(
      { name },
      {
        onSuccess: () => toast({ kind: "done", text: server.keepAwakeEnded(isolate(name)) }),
        onError: (error) => toast(failedToast(words, error)),
      },
    );
  return (
    <>
      <p>{server.keptAwakeUntil(formatDate(Date.parse(until), language))}</p>
      <Needs rights={["power"]} otherwise="nothing">
        <Row>
          <Button isPending={end.isPending} onPress={stop}>
            {server.endKeepAwake}
          </Button>
        </Row>
      </Needs>
    </>
  );
}

function UntilForm({ name, until }: { name: string; until: string | undefined }) {
  const { server } = useWords();
  const { language } = useLanguage();
  const toast = useToast();
  const bounds = useOperation("keepAwakes.read", { name }).data;
  const write = useAction("keepAwakes.write", readAgain);
  const zone = ownZone();
  const [field, setField] = useState(until === undefined ? "" : fieldOf(until, zone));
  const [isTried, setTried] = useState(false);
  const now = Date.now() + clockOffsetMs();
  const longestMs = (bounds?.longest_seconds ?? Number.POSITIVE_INFINITY) * 1_000;
  const wanted = untilOf(field, { now, longestMs, zone });
  const problem = isTried && "problem" in wanted ? server.untilProblems[wanted.problem] : undefined;
  const submit = () => {
    setTried(true);
    if ("problem" in wanted || write.isPending) return;
    const text = server.keptAwakeDone(isolate(name), formatDate(Date.parse(wanted.at), language));
    write.mutate({ name, until: wanted.at }, { onSuccess: () => toast({ kind: "done", text }) });
  };
  return (
    <Form onSubmit={submit}>
      <Stack>
        <Field
          label={server.keepAwakeUntil}
          name="until"
          type="datetime-local"
          value={field}
          onChange={setField}
          error={problem}
          description={
            bounds &&
            server.keepAwakeHelp(
              formatDate(now + longestMs, language),
              bounds.servers_kept,
              bounds.servers_limit,
            )
          }
        />
        <Row>
          <Button type="submit" isPending={write.isPending}>
            {until === undefined ? server.keepAwake : server.changeKeepAwake}
          </Button>
        </Row>
        <Failure error={write.error} />
      </Stack>
    </Form>
  );
}
