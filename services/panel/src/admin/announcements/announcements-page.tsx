import { poll, useOperation } from "../../api/query.ts";
import { StatusListSettings } from "../../settings/status-page.tsx";
import { Failure } from "../../ui/failure.tsx";
import { Stack } from "../../ui/layout.tsx";
import { ListSection } from "../../ui/list-section.tsx";
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
  const retry = () => void refetch();
  if (!data) return error ? <Failure error={error} retry={retry} /> : <Loading />;
  const { announcements, limit } = data;
  const isFull = announcements.filter(({ state }) => state !== "over").length >= limit;
  return (
    <Stack>
      <Failure error={error} retry={retry} />
      <ListSection
        label={shell.announcements}
        about={words.about}
        items={announcements}
        none={words.none}
        add={{
          word: words.add,
          whyNot: isFull ? words.full(limit) : undefined,
          dialog: (onClose) => <AnnouncementDialog onClose={onClose} />,
        }}
      >
        {(announcement) => <AnnouncementItem key={announcement.id} announcement={announcement} />}
      </ListSection>
    </Stack>
  );
}
