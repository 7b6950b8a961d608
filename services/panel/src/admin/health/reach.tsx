import type { ReactNode } from "react";
import { useAction } from "../../api/query.ts";
import { Button } from "../../ui/button.tsx";
import { Failure } from "../../ui/failure.tsx";
import { Card, Facts, Muted, Row, Stack } from "../../ui/layout.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Status } from "../../ui/status.tsx";
import { Time } from "../../ui/time.tsx";
import { useHealthWords } from "../../words/health-words.ts";
import { visible } from "../../words/visible.ts";
import { type AlertStatus, type Delivery, lookOfDelivery } from "./alert-view.ts";

/** Whether alerts reach anybody, and a test of it. */
export function Reach({ status: { mail, heartbeat, channels } }: { status: AlertStatus }) {
  const { reach } = useHealthWords();
  const send = useAction("alerts.testAlerts", ["alerts.readAlerts"]);
  const failed = send.data?.deliveries.filter(({ ok }) => !ok) ?? [];
  const rows: (readonly [string, ReactNode])[] = [
    [reach.mail, <Way key="mail" delivery={mail} about={reach.recipients(mail.recipients)} />],
    [reach.heartbeat, <Way key="heartbeat" delivery={heartbeat} />],
    ...channels.map(
      ({ name, ...delivery }) => [visible(name), <Way key={name} delivery={delivery} />] as const,
    ),
  ];
  return (
    <Card
      title={reach.title}
      actions={
        <Button isPending={send.isPending} onPress={() => send.mutate({})}>
          {reach.test}
        </Button>
      }
    >
      {mail.recipients === 0 && <Notice kind="failed">{reach.nobody}</Notice>}
      <Facts rows={rows} />
      <Failure error={send.error} />
      {send.data && failed.length === 0 && <Notice kind="done">{reach.arrived}</Notice>}
      {failed.length > 0 && (
        <Notice kind="failed" isAlert>
          <strong>{reach.notArrived}</strong>
          {failed.map(({ name, error }) => (
            <p key={name}>
              <bdi>{visible(name)}</bdi>: <bdi>{visible(error ?? "")}</bdi>
            </p>
          ))}
        </Notice>
      )}
    </Card>
  );
}

function Way({ delivery, about }: { delivery: Delivery; about?: string }) {
  const { reach } = useHealthWords();
  const { state, at, error } = delivery;
  return (
    <Stack isTight>
      <Row>
        <Status look={lookOfDelivery[state]} word={reach.states[state]} />
        {at !== undefined && <Time at={at} />}
        {about !== undefined && <span>· {about}</span>}
      </Row>
      {error !== undefined && <Muted>{visible(error)}</Muted>}
    </Stack>
  );
}
