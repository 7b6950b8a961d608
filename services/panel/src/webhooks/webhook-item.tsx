import { useState } from "react";
import { AskingButton } from "../ui/asking-button.tsx";
import { Button } from "../ui/button.tsx";
import { Disclosure } from "../ui/disclosure.tsx";
import { Failure } from "../ui/failure.tsx";
import { ListItem } from "../ui/list.tsx";
import { Switch } from "../ui/switch.tsx";
import { Time } from "../ui/time.tsx";
import { useToast } from "../ui/toasts.tsx";
import { isolate } from "../words/format.ts";
import { visible } from "../words/visible.ts";
import { useWebhookWords } from "../words/webhook-words.ts";
import { Deliveries } from "./deliveries.tsx";
import { SecretOnce } from "./secret-once.tsx";
import {
  chosen,
  type Place,
  useChange,
  useRemove,
  useRotate,
  useTest,
  type Webhook,
} from "./use-webhooks.ts";
import { WebhookDialog } from "./webhook-dialog.tsx";

type ItemProps = { place: Place; webhook: Webhook; mayChange: boolean };

/** One webhook with how it goes, and what can be done with it. */
export function WebhookItem({ place, webhook, mayChange }: ItemProps) {
  const words = useWebhookWords();
  const change = useChange(place);
  const [isEditing, setEditing] = useState(false);
  const shown = visible(webhook.label);
  const { id, label, events, language } = webhook;
  return (
    <>
      <ListItem
        isLong
        title={<bdi>{shown}</bdi>}
        details={<About webhook={webhook} />}
        below={
          <Disclosure summary={words.deliveriesOf(isolate(shown))}>
            <Deliveries place={place} id={id} maySend={mayChange && webhook.enabled} label={shown} />
          </Disclosure>
        }
        actions={
          <>
            {mayChange && (
              <>
                <Switch
                  label={words.switchOf(isolate(shown))}
                  isOn={webhook.enabled}
                  onChange={(enabled) => {
                    if (!change.isPending)
                      change.run({ id, label, events: chosen(events), language, enabled });
                  }}
                />
                <SendTest place={place} webhook={webhook} shown={shown} />
                <Button label={words.editOf(isolate(shown))} onPress={() => setEditing(true)}>
                  {words.edit}
                </Button>
                {webhook.format === "json" && <Rotate place={place} id={id} shown={shown} />}
              </>
            )}
            <Remove place={place} id={id} shown={shown} />
          </>
        }
      />
      <Failure error={change.error} />
      {isEditing && <WebhookDialog place={place} webhook={webhook} onClose={() => setEditing(false)} />}
    </>
  );
}

function About({ webhook }: { webhook: Webhook }) {
  const words = useWebhookWords();
  const { format, host, events, enabled, off_reason, saved_by, last_attempt: last } = webhook;
  const { waiting, dead, old_secret_until: until } = webhook;
  const counts = [...(waiting > 0 ? [words.waiting(waiting)] : []), ...(dead > 0 ? [words.dead(dead)] : [])];
  return (
    <>
      <div>
        {words.formatNames[format]} · <bdi>{visible(host)}</bdi> ·{" "}
        {enabled ? words.on : words.offReasons[off_reason ?? "by_hand"]}
      </div>
      <div>{events.map((event) => words.eventWords[event]).join(", ")}</div>
      <div>
        {last ? (
          <>
            {last.ok ? words.lastOk : words.lastFailed} <Time at={last.at} />
            {last.status !== undefined && ` (${words.answered(last.status)})`}
          </>
        ) : (
          words.never
        )}
        {counts.length > 0 && ` · ${counts.join(" · ")}`}
      </div>
      <div>
        {words.savedBy} <bdi>{visible(saved_by)}</bdi>
        {until !== undefined && (
          <>
            {" · "}
            {words.oldSecretUntil} <Time at={until} />
          </>
        )}
      </div>
    </>
  );
}

type ActProps = { place: Place; id: string; shown: string };

function SendTest({ place, webhook, shown }: { place: Place; webhook: Webhook; shown: string }) {
  const words = useWebhookWords();
  const toast = useToast();
  const test = useTest(place);
  const done = () => toast({ kind: "done", text: words.testSent(isolate(shown)) });
  return (
    <>
      <Button
        label={words.testOf(isolate(shown))}
        isDisabled={!webhook.enabled}
        isPending={test.isPending}
        onPress={() => test.run(webhook.id, done)}
      >
        {words.test}
      </Button>
      <Failure error={test.error} />
    </>
  );
}

function Rotate({ place, id, shown }: ActProps) {
  const words = useWebhookWords();
  const rotate = useRotate(place);
  return (
    <>
      <AskingButton
        word={words.rotate}
        label={words.rotateOf(isolate(shown))}
        title={words.rotateTitle(isolate(shown))}
        action={words.rotate}
        request={rotate}
        onConfirm={() => rotate.run(id)}
      >
        <p>{words.rotateAbout}</p>
      </AskingButton>
      {rotate.data && (
        <SecretOnce secret={rotate.data.secret} help={words.rotatedHelp} onClose={rotate.reset} />
      )}
    </>
  );
}

function Remove({ place, id, shown }: ActProps) {
  const words = useWebhookWords();
  const remove = useRemove(place);
  return (
    <AskingButton
      word={words.remove}
      label={words.removeOf(isolate(shown))}
      title={words.removeTitle(isolate(shown))}
      action={words.remove}
      request={remove}
      onConfirm={() => remove.run(id)}
    >
      <p>{words.removeHelp}</p>
    </AskingButton>
  );
}
