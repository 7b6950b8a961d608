import { useState } from "react";
import { Button } from "../ui/button.tsx";
import { Disclosure, Preformatted } from "../ui/disclosure.tsx";
import { Failure } from "../ui/failure.tsx";
import { Muted, Stack } from "../ui/layout.tsx";
import { List, ListItem } from "../ui/list.tsx";
import { Loading } from "../ui/loading.tsx";
import { Pager } from "../ui/pager.tsx";
import { Select } from "../ui/select.tsx";
import { Time } from "../ui/time.tsx";
import { useToast } from "../ui/toasts.tsx";
import type { WebhookWords } from "../words/en/webhooks.ts";
import { isolate } from "../words/format.ts";
import { visible } from "../words/visible.ts";
import { useWebhookWords } from "../words/webhook-words.ts";
import { type Delivery, type Place, type State, useDeliveries, useRedeliver } from "./use-webhooks.ts";

const perPage = 20;
const states = ["waiting", "delivered", "dead", "dropped"] as const;

type DeliveriesProps = { place: Place; id: string; maySend: boolean; label: string };

/** What was sent, what waits and what was given up, the newest first. */
export function Deliveries({ place, id, maySend, label }: DeliveriesProps) {
  const words = useWebhookWords();
  const [state, setState] = useState<State | "all">("all");
  const [offset, setOffset] = useState(0);
  const page = { id, limit: perPage, offset, ...(state !== "all" && { state }) };
  const { data, error, refetch } = useDeliveries(place, page);
  const total = data?.total ?? 0;
  return (
    <Stack>
      <Select
        isInline
        label={words.show}
        value={state}
        onChange={(wanted) => {
          setState(wanted);
          setOffset(0);
        }}
        options={[["all", words.all], ...states.map((one) => [one, words.states[one]] as const)]}
      />
      {!data && (error ? <Failure error={error} retry={() => void refetch()} /> : <Loading />)}
      {data && total === 0 && <Muted>{words.noDeliveries}</Muted>}
      {data && total > 0 && (
        <List label={words.deliveriesOf(isolate(label))}>
          {data.deliveries.map((delivery) => (
            <DeliveryItem key={delivery.id} of={{ place, id }} delivery={delivery} maySend={maySend} />
          ))}
        </List>
      )}
      {total > perPage && (
        <Pager
          text={words.range(offset + 1, Math.min(offset + perPage, total), total)}
          back={{ word: words.newer, run: offset > 0 ? () => setOffset(offset - perPage) : undefined }}
          on={{
            word: words.older,
            run: offset + perPage < total ? () => setOffset(offset + perPage) : undefined,
          }}
        />
      )}
    </Stack>
  );
}

type ItemProps = { of: { place: Place; id: string }; delivery: Delivery; maySend: boolean };

function DeliveryItem({ of, delivery, maySend }: ItemProps) {
  const words = useWebhookWords();
  const toast = useToast();
  const redeliver = useRedeliver(of.place);
  const { id, type, server, state, at, attempts, next_attempt_at: next, status, response } = delivery;
  const failure = failureWords(words, delivery);
  return (
    <>
      <ListItem
        title={
          <>
            {words.eventWords[type]}
            {server !== undefined && (
              <>
                {" · "}
                <bdi>{server}</bdi>
              </>
            )}
          </>
        }
        details={
          <>
            <div>
              <Time at={at} /> · {words.states[state]} · {words.attempts(attempts)}
              {next !== undefined && attempts > 0 && (
                <>
                  {" · "}
                  {words.next} <Time at={next} />
                </>
              )}
            </div>
            {failure !== undefined && <div>{failure}</div>}
            {failure === undefined && status !== undefined && <div>{words.answered(status)}</div>}
            {response !== undefined && (
              <Disclosure summary={words.response}>
                <Preformatted label={words.response}>{visible(response)}</Preformatted>
              </Disclosure>
            )}
          </>
        }
        actions={
          maySend && (
            <Button
              label={words.redeliverOf(id)}
              isPending={redeliver.isPending}
              onPress={() =>
                redeliver.run({ id: of.id, delivery: id }, () =>
                  toast({ kind: "done", text: words.redelivered }),
                )
              }
            >
              {words.redeliver}
            </Button>
          )
        }
      />
      <Failure error={redeliver.error} />
    </>
  );
}

/** Undefined where the status says it, or nothing failed. */
function failureWords(words: WebhookWords, { failure, error }: Delivery): string | undefined {
  if (error === undefined || failure === "status") return undefined;
  const known: Readonly<Record<string, string>> = words.failures;
  return known[failure ?? ""] ?? words.otherFailure(visible(error));
}
