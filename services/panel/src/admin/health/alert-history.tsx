import { poll, useOperation } from "../../api/query.ts";
import { Failure } from "../../ui/failure.tsx";
import { Muted } from "../../ui/layout.tsx";
import { List, ListItem } from "../../ui/list.tsx";
import { Loading } from "../../ui/loading.tsx";
import { Time } from "../../ui/time.tsx";
import { useHealthWords } from "../../words/health-words.ts";
import { visible } from "../../words/visible.ts";
import { useLanguage } from "../../words/words.ts";
import { type HistoryEntry, inLanguage } from "./alert-view.ts";

const shown = 100;

/** What happened to alerts, the newest first. */
export function AlertHistory() {
  const { alerts } = useHealthWords();
  const { data, error, refetch } = useOperation("alerts.readAlertHistory", {}, { every: poll.history });
  if (!data) return error ? <Failure error={error} retry={() => void refetch()} /> : <Loading />;
  if (data.entries.length === 0) return <Muted>{alerts.noHistory}</Muted>;
  return (
    <List label={alerts.history}>
      {data.entries.slice(0, shown).map((entry) => (
        <Entry key={`${entry.at} ${entry.what} ${entry.key ?? entry.delivery}`} entry={entry} />
      ))}
    </List>
  );
}

function Entry({ entry }: { entry: HistoryEntry }) {
  const { alerts } = useHealthWords();
  const { language } = useLanguage();
  const { at, what, key, summary, by, note, delivery } = entry;
  const about = summary ? inLanguage(summary, language) : (key ?? delivery ?? "");
  return (
    <ListItem
      title={
        <>
          {alerts.happened[what]}
          {about !== "" && (
            <>
              {": "}
              <bdi>{visible(about)}</bdi>
            </>
          )}
        </>
      }
      details={
        <>
          <Time at={at} />
          {[by, note].map(
            (text) =>
              text !== undefined && (
                <span key={text}>
                  {" · "}
                  <bdi>{visible(text)}</bdi>
                </span>
              ),
          )}
        </>
      }
    />
  );
}
