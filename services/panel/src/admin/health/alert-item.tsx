import { useState } from "react";
import { useAction } from "../../api/query.ts";
import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { Stack } from "../../ui/layout.tsx";
import { ListItem } from "../../ui/list.tsx";
import { Select } from "../../ui/select.tsx";
import { Status } from "../../ui/status.tsx";
import { TextWithCode } from "../../ui/text-with-code.tsx";
import { Time } from "../../ui/time.tsx";
import { useHealthWords } from "../../words/health-words.ts";
import { visible } from "../../words/visible.ts";
import { useLanguage } from "../../words/words.ts";
import { type Alert, inLanguage, silenceHours, silenceKeysOf } from "./alert-view.ts";

const changed = ["alerts.readAlerts", "alerts.readAlertHistory"] as const;
const mostText = 200;

/** One thing that is wrong: since when, what to do, who works on it. */
export function AlertItem({ alert }: { alert: Alert }) {
  const { alerts } = useHealthWords();
  const { language } = useLanguage();
  const [asked, setAsked] = useState<"acknowledge" | "silence">();
  const summary = visible(inLanguage(alert.summary, language));
  const { state, severity, acknowledged, silenced_until } = alert;
  const isPending = state === "pending";
  const close = () => setAsked(undefined);
  return (
    <>
      <ListItem
        isLong
        title={summary}
        details={
          <>
            <div>
              {isPending ? (
                <Status look="unknown" word={alerts.pending} />
              ) : (
                <Status
                  look={severity === "critical" ? "failed" : "starting"}
                  word={alerts.severities[severity]}
                />
              )}
              {" · "}
              {alerts.since} <Time at={alert.since} />
              {alert.notified_at !== undefined && (
                <>
                  {" · "}
                  {alerts.sent} <Time at={alert.notified_at} />
                </>
              )}
            </div>
            <div>
              <TextWithCode text={visible(inLanguage(alert.hint, language))} />
            </div>
            {acknowledged && (
              <div>
                {alerts.acknowledgedBy} <bdi>{visible(acknowledged.by)}</bdi>, <Time at={acknowledged.at} />
                {acknowledged.note !== undefined && acknowledged.note !== "" && (
                  <>
                    {": "}
                    <bdi>{visible(acknowledged.note)}</bdi>
                  </>
                )}
              </div>
            )}
            {silenced_until !== undefined && (
              <div>
                {alerts.silencedUntil} <Time at={silenced_until} />
              </div>
            )}
          </>
        }
        actions={
          <>
            {!isPending && !acknowledged && (
              <Button label={alerts.acknowledgeOf(summary)} onPress={() => setAsked("acknowledge")}>
                {alerts.acknowledge}
              </Button>
            )}
            {silenced_until === undefined && (
              <Button label={alerts.silenceOf(summary)} onPress={() => setAsked("silence")}>
                {alerts.silence}
              </Button>
            )}
          </>
        }
      />
      {asked === "acknowledge" && <Acknowledge alert={alert} title={summary} onClose={close} />}
      {asked === "silence" && <Silence alert={alert} title={summary} onClose={close} />}
    </>
  );
}

type AskProps = { alert: Alert; title: string; onClose: () => void };

function Acknowledge({ alert: { key }, title, onClose }: AskProps) {
  const { alerts } = useHealthWords();
  const [note, setNote] = useState("");
  const acknowledge = useAction("alerts.acknowledgeAlert", changed);
  const submit = () => {
    if (!acknowledge.isPending) acknowledge.mutate({ key, note: note.trim() }, { onSuccess: onClose });
  };
  return (
    <FormDialog
      title={title}
      action={alerts.acknowledgeAction}
      isPending={acknowledge.isPending}
      error={acknowledge.error}
      about={<p>{alerts.acknowledgeHelp}</p>}
      onSubmit={submit}
      onClose={onClose}
    >
      <Field label={alerts.note} name="note" value={note} onChange={setNote} maxLength={mostText} autoFocus />
    </FormDialog>
  );
}

function Silence({ alert: { key }, title, onClose }: AskProps) {
  const { alerts } = useHealthWords();
  const keys = silenceKeysOf(key);
  const [covered, setCovered] = useState<keyof typeof keys>("alone");
  const [hours, setHours] = useState<(typeof silenceHours)[number]>("4");
  const [reason, setReason] = useState("");
  const [isTried, setTried] = useState(false);
  const silence = useAction("alerts.silenceAlerts", changed);
  const isMissing = reason.trim() === "";
  const submit = () => {
    setTried(true);
    if (isMissing || silence.isPending) return;
    const asked = { key: keys[covered], hours: Number(hours), reason: reason.trim() };
    silence.mutate(asked, { onSuccess: onClose });
  };
  const hasKind = keys.kind !== keys.alone;
  return (
    <FormDialog
      title={title}
      action={alerts.silenceAction}
      isPending={silence.isPending}
      error={silence.error}
      about={<p>{alerts.silenceHelp}</p>}
      onSubmit={submit}
      onClose={onClose}
    >
      <Stack>
        <Select
          label={alerts.covers}
          value={covered}
          onChange={setCovered}
          options={[
            ["alone", alerts.thisAlone],
            ...(hasKind ? [["kind", alerts.allOfKind(keys.kind)] as const] : []),
            ["all", alerts.everything],
          ]}
        />
        <Select
          label={alerts.howLong}
          value={hours}
          onChange={setHours}
          options={silenceHours.map((one) => [one, alerts.hours(Number(one))])}
        />
        <Field
          label={alerts.reason}
          name="reason"
          value={reason}
          onChange={setReason}
          maxLength={mostText}
          error={isTried && isMissing ? alerts.reasonMissing : undefined}
          autoFocus
        />
      </Stack>
    </FormDialog>
  );
}
