import { useState } from "react";
import { actionWords } from "../admin/audit/action-words.ts";
import { poll, useOperation } from "../api/query.ts";
import { ServerFrame } from "../server/server-frame.tsx";
import { Button } from "../ui/button.tsx";
import { Empty } from "../ui/empty.tsx";
import { Failure } from "../ui/failure.tsx";
import { Card, Row, Stack } from "../ui/layout.tsx";
import { List, ListItem } from "../ui/list.tsx";
import { Loading } from "../ui/loading.tsx";
import { NotFoundPage } from "../ui/not-found-page.tsx";
import { Time } from "../ui/time.tsx";
import { isolate } from "../words/format.ts";
import { visible } from "../words/visible.ts";
import { useLanguage, useWords } from "../words/words.ts";
import { accessTexts } from "./access-text.ts";
import { actionOf, detailsOf, type Entry } from "./entry.ts";

const pageLength = 50;

/** What was done to a server since its owner has it. */
export function Page() {
  const { activity } = useWords();
  return (
    <ServerFrame section={activity.title} needs={["console.read"]}>
      {({ name, isManaged }) =>
        isManaged ? <Entries key={name} name={name} /> : <NotFoundPage title={activity.title} />
      }
    </ServerFrame>
  );
}

/** The newest page, or the one after a cursor, and below it those before. */
function Entries({ name, cursor }: { name: string; cursor?: string }) {
  const { activity } = useWords();
  const [isOlderShown, setOlderShown] = useState(false);
  const { data, error, refetch } = useOperation(
    "ownership.listActivity",
    { name, limit: pageLength, ...(cursor !== undefined && { cursor }) },
    // Only the newest page changes, and it stands still once older ones are read below it.
    cursor === undefined && !isOlderShown ? { every: poll.list } : {},
  );
  if (!data) return error ? <Failure error={error} retry={() => void refetch()} /> : <Loading />;
  const { entries, next } = data;
  if (entries.length === 0)
    return cursor === undefined ? <Empty title={activity.none}>{activity.noneHelp}</Empty> : null;
  return (
    <Stack>
      <Card>
        <List label={activity.title}>
          {entries.map((entry) => (
            <EntryItem key={entry.id} entry={entry} />
          ))}
        </List>
      </Card>
      {next !== undefined && isOlderShown && <Entries name={name} cursor={next} />}
      {next !== undefined && !isOlderShown && (
        <Row>
          <Button onPress={() => setOlderShown(true)}>{activity.older}</Button>
        </Row>
      )}
    </Stack>
  );
}

function EntryItem({ entry }: { entry: Entry }) {
  const words = useWords();
  const { language } = useLanguage();
  const { activity } = words;
  const access: Readonly<Record<string, string>> = activity.access;
  const by = entry.name === undefined ? activity.by[entry.by] : isolate(entry.name);
  return (
    <ListItem
      title={access[actionOf(entry)] ?? actionWords(words, entry.action)}
      details={
        <>
          {by} · <Time at={entry.at} />
          {[...detailsOf(entry), ...accessTexts(entry, { words, language })].map((text) => (
            <span key={text}>
              {" · "}
              <bdi>{visible(text)}</bdi>
            </span>
          ))}
        </>
      }
    />
  );
}
