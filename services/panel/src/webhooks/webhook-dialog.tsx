import { useState } from "react";
import { useAccess } from "../access/use-access.ts";
import { Choice } from "../ui/choice.tsx";
import { Choices } from "../ui/choices.tsx";
import { Field } from "../ui/field.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";
import { Muted, Stack } from "../ui/layout.tsx";
import { Select } from "../ui/select.tsx";
import { useToast } from "../ui/toasts.tsx";
import { isolate } from "../words/format.ts";
import { visible } from "../words/visible.ts";
import { useWebhookWords } from "../words/webhook-words.ts";
import { offeredEvents } from "./events.ts";
import { SecretOnce } from "./secret-once.tsx";
import {
  chosen,
  type Event,
  type Format,
  type Place,
  useChange,
  useCreate,
  type Webhook,
} from "./use-webhooks.ts";

const formats = ["discord", "slack", "json"] as const;

type DialogProps = { place: Place; webhook?: Webhook; onClose: () => void };

/** Asks what is sent where; the secret of a new webhook is shown once. */
export function WebhookDialog({ place, webhook, onClose }: DialogProps) {
  const words = useWebhookWords();
  const form = useForm({ place, webhook, onClose });
  if (form.secret !== undefined)
    return <SecretOnce secret={form.secret} help={words.secretHelp} onClose={onClose} />;
  return (
    <FormDialog
      title={webhook ? words.editOf(isolate(visible(webhook.label))) : words.add}
      action={words.save}
      isPending={form.isPending}
      error={form.error}
      onSubmit={form.submit}
      onClose={onClose}
    >
      <Fields form={form} isNew={webhook === undefined} />
    </FormDialog>
  );
}

function useForm({ place, webhook, onClose }: DialogProps & { webhook: Webhook | undefined }) {
  const words = useWebhookWords();
  const toast = useToast();
  const create = useCreate(place);
  const change = useChange(place);
  const [label, setLabel] = useState(webhook?.label ?? "");
  const [format, setFormat] = useState<Format>(webhook?.format ?? "discord");
  const [url, setUrl] = useState("");
  const [language, setLanguage] = useState(webhook?.language ?? "en");
  const { may } = useAccess();
  const offered = offeredEvents(place, may);
  const before = chosen(webhook?.events ?? []);
  const [wanted, setEvents] = useState<readonly Event[]>(before);
  const events = wanted.filter((event) => offered.includes(event));
  const [isSubmitted, setSubmitted] = useState(false);
  const missing = {
    label: label.trim() === "",
    url: !webhook && url.trim() === "",
    events: events.length === 0,
  };
  const done = () => {
    toast({ kind: "done", text: words.saved(isolate(visible(label.trim()))) });
    onClose();
  };
  const submit = () => {
    setSubmitted(true);
    if (missing.label || missing.url || missing.events || create.isPending || change.isPending) return;
    const draft = { label: label.trim(), events: [...events], language };
    const given = url.trim();
    if (webhook) {
      const { id, enabled } = webhook;
      change.run({ id, enabled, ...draft, ...(given !== "" && { url: given }) }, done);
    } else
      create.run({ ...draft, format, url: given }, ({ secret }) => {
        if (secret === undefined) done();
      });
  };
  return {
    ...{ label, setLabel, format, setFormat, url, setUrl, language, setLanguage, events, setEvents, submit },
    offered,
    /** Somebody with more rights chose some that the reader may not be told. */
    losesEvents: before.some((event) => !offered.includes(event)),
    isPending: create.isPending || change.isPending,
    error: webhook ? change.error : create.error,
    secret: create.data?.secret,
    /** What is missing, once somebody wanted to go on without it. */
    isMissing: (what: keyof typeof missing) => isSubmitted && missing[what],
  };
}

type FieldsProps = { form: ReturnType<typeof useForm>; isNew: boolean };

function Fields({ form, isNew }: FieldsProps) {
  const words = useWebhookWords();
  const { label, setLabel, format, setFormat, url, setUrl, language, setLanguage, isMissing } = form;
  const { events, setEvents, offered, losesEvents } = form;
  const choose = (event: Event, isChosen: boolean) => {
    const others = events.filter((one) => one !== event);
    setEvents(isChosen ? [...others, event] : others);
  };
  return (
    <Stack>
      <Field
        label={words.label}
        name="webhook-label"
        value={label}
        onChange={setLabel}
        maxLength={64}
        error={isMissing("label") ? words.labelMissing : undefined}
        autoFocus
      />
      {isNew && (
        <Choice
          label={words.format}
          value={format}
          onChange={setFormat}
          options={formats.map((one) => [one, words.formats[one]])}
        />
      )}
      <Field
        label={words.url}
        name="webhook-url"
        value={url}
        onChange={setUrl}
        maxLength={2_000}
        description={isNew ? words.urlHelp : words.urlKept}
        error={isMissing("url") ? words.urlMissing : undefined}
      />
      {format !== "json" && (
        <Select
          label={words.language}
          value={language}
          onChange={setLanguage}
          options={(["en", "zh"] as const).map((one) => [one, words.languages[one]])}
        />
      )}
      <Choices
        label={words.events}
        options={offered.map((event) => [event, words.eventWords[event]])}
        isChosen={(event) => events.includes(event)}
        onChange={choose}
        error={isMissing("events") ? words.eventsMissing : undefined}
      />
      {losesEvents && <Muted>{words.losesEvents}</Muted>}
    </Stack>
  );
}
