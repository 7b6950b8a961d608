import { useState } from "react";
import { poll, useOperation } from "../../api/query.ts";
import { StatusListSettings } from "../../settings/status-page.tsx";
import { Button } from "../../ui/button.tsx";
import { Failure } from "../../ui/failure.tsx";
import { Card, Muted, Row, Stack } from "../../ui/layout.tsx";
import { List } from "../../ui/list.tsx";
import { Loading } from "../../ui/loading.tsx";
import { Page as PageFrame } from "../../ui/page.tsx";
import { useAnnouncementWords } from "../../words/announcement-words.ts";
import { useWords } from "../../words/words.ts";
import { AnnouncementDialog } from "./announcement-dialog.tsx";
import { AnnouncementItem } from "./announcement-item.tsx";

/** What staff announce, and maintenance windows. */
export function Page() {
  const { shell } = useWords();
  return (
    <PageFrame title={shell.announcements}>
      <Stack>
        <Announcements />
        <StatusListSettings />
      </Stack>
    </PageFrame>
  );
}

function Announcements() {
  const words = useAnnouncementWords();
  const { shell } = useWords();
  const { data, error, refetch } = useOperation("announcements.list", {}, { every: poll.list });
  const [isAdding, setAdding] = useState(false);
  const retry = () => void refetch();
  if (!data) return error ? <Failure error={error} retry={retry} /> : <Loading />;
  const { announcements, limit } = data;
  const isFull = announcements.filter(({ state }) => state !== "over").length >= limit;
  return (
    <Stack>
      <Failure error={error} retry={retry} />
      <Row isSpread>
        <Muted>{words.about}</Muted>
        <Button
          kind="primary"
          whyNot={isFull ? words.full(limit) : undefined}
          onPress={() => setAdding(true)}
        >
          {words.add}
        </Button>
      </Row>
      <Card title={shell.announcements}>
        {announcements.length === 0 && <Muted>{words.none}</Muted>}
        {announcements.length > 0 && (
          <List label={shell.announcements}>
            {announcements.map((one) => (
              <AnnouncementItem key={one.id} announcement={one} />
            ))}
          </List>
        )}
      </Card>
      {isAdding && <AnnouncementDialog onClose={() => setAdding(false)} />}
    </Stack>
  );
}
