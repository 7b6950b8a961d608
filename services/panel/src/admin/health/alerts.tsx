import { useState } from "react";
import { poll, useAction, useOperation } from "../../api/query.ts";
import { Button } from "../../ui/button.tsx";
import { Disclosure } from "../../ui/disclosure.tsx";
import { Failure } from "../../ui/failure.tsx";
import { Card, Muted } from "../../ui/layout.tsx";
import { List, ListItem } from "../../ui/list.tsx";
import { Loading } from "../../ui/loading.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Time } from "../../ui/time.tsx";
import { failedToast, useToast } from "../../ui/toasts.tsx";
import { useHealthWords } from "../../words/health-words.ts";
import { visible } from "../../words/visible.ts";
import { useLanguage, useWords } from "../../words/words.ts";
import { AlertHistory } from "./alert-history.tsx";
import { AlertItem } from "./alert-item.tsx";
import { type AlertStatus, decideHealth, inLanguage, isConfigured, noticeOfHealth } from "./alert-view.ts";
import { HealthSentence } from "./health-sentence.tsx";
import { Reach } from "./reach.tsx";

const shownResolved = 5;

/** What the watchdog found, what was done about it, and whether staff can be reached. */
export function Alerts() {
  const { alerts } = useHealthWords();
  const { data, error, refetch } = useOperation("alerts.readAlerts", {}, { every: poll.list });
  if (!data)
    return (
      <Card title={alerts.title}>
        {error ? <Failure error={error} retry={() => void refetch()} /> : <Loading />}
      </Card>
    );
  return (
    <>
      {error && <Failure error={error} retry={() => void refetch()} />}
      <Summary status={data} />
      <Card title={alerts.title}>
        {data.checked_at !== null && data.alerts.length === 0 && <Muted>{alerts.none}</Muted>}
        {data.alerts.length > 0 && (
          <List label={alerts.title}>
            {data.alerts.map((alert) => (
              <AlertItem key={alert.key} alert={alert} />
            ))}
          </List>
        )}
        <Unknown unknown={data.unknown} />
        <Silences silences={data.silences} />
        <Resolved resolved={data.resolved} />
        <Disclosure summary={alerts.history}>
          <AlertHistory />
        </Disclosure>
      </Card>
      <Reach status={data} />
    </>
  );
}

function Summary({ status }: { status: AlertStatus }) {
  const { alerts } = useHealthWords();
  const health = decideHealth(status);
  return (
    <Notice kind={noticeOfHealth[health.state]}>
      <HealthSentence health={health} />
      <Muted>
        {status.checked_at !== null && (
          <>
            {alerts.checked} <Time at={status.checked_at} />
          </>
        )}
        {health.state === "out-of-date" && ` · ${alerts.outOfDateHelp}`}
      </Muted>
    </Notice>
  );
}

function Unknown({ unknown }: Pick<AlertStatus, "unknown">) {
  const { alerts } = useHealthWords();
  const failed = unknown.filter(isConfigured);
  const unused = unknown.filter((check) => !isConfigured(check));
  return (
    <>
      {failed.length > 0 && (
        <Notice kind="waiting">
          {alerts.unknown}
          <Checks checks={failed} />
        </Notice>
      )}
      {unused.length > 0 && (
        <Disclosure summary={alerts.notSetUp(unused.length)}>
          <Muted>{alerts.notSetUpHelp}</Muted>
          <Checks checks={unused} />
        </Disclosure>
      )}
    </>
  );
}

function Checks({ checks }: { checks: AlertStatus["unknown"] }) {
  return (
    <ul>
      {checks.map(({ prefix, reason }) => (
        <li key={prefix}>
          <code>{visible(prefix)}</code> <bdi>{visible(reason)}</bdi>
        </li>
      ))}
    </ul>
  );
}

function Silences({ silences }: Pick<AlertStatus, "silences">) {
  const { alerts } = useHealthWords();
  const words = useWords();
  const toast = useToast();
  const end = useAction("alerts.endSilence", ["alerts.readAlerts", "alerts.readAlertHistory"]);
  if (silences.length === 0) return null;
  const ended = {
    onError: (error: typeof end.error) => error && toast(failedToast(words, error)),
  };
  return (
    <>
      <h3>{alerts.silences}</h3>
      <List label={alerts.silences}>
        {silences.map(({ id, key, until, reason, by, at }) => (
          <ListItem
            key={id}
            title={key === "*" ? alerts.everything : <code>{visible(key)}</code>}
            details={
              <>
                {alerts.until} <Time at={until} /> · <bdi>{visible(reason)}</bdi> · <bdi>{visible(by)}</bdi>,{" "}
                <Time at={at} />
              </>
            }
            actions={
              <Button
                label={alerts.endSilenceOf(visible(key))}
                isPending={end.isPending && end.variables.id === id}
                onPress={() => end.mutate({ id }, ended)}
              >
                {alerts.endSilence}
              </Button>
            }
          />
        ))}
      </List>
    </>
  );
}

function Resolved({ resolved }: Pick<AlertStatus, "resolved">) {
  const { alerts } = useHealthWords();
  const { language } = useLanguage();
  const [isAll, setAll] = useState(false);
  if (resolved.length === 0) return null;
  return (
    <>
      <h3>{alerts.resolved}</h3>
      <List label={alerts.resolved}>
        {(isAll ? resolved : resolved.slice(0, shownResolved)).map(({ key, summary, since, resolved_at }) => (
          <ListItem
            key={`${key} ${since}`}
            title={visible(inLanguage(summary, language))}
            details={
              resolved_at !== undefined && (
                <>
                  {alerts.gone} <Time at={resolved_at} />
                </>
              )
            }
          />
        ))}
      </List>
      {!isAll && resolved.length > shownResolved && (
        <div>
          <Button onPress={() => setAll(true)}>{alerts.showAll(resolved.length)}</Button>
        </div>
      )}
    </>
  );
}
