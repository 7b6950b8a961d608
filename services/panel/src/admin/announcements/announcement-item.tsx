import { useState } from "react";
import { useAction } from "../../api/query.ts";
import { AskingButton } from "../../ui/asking-button.tsx";
import { Button } from "../../ui/button.tsx";
import { ListItem } from "../../ui/list.tsx";
import { Status, type StatusLook } from "../../ui/status.tsx";
import { useToast } from "../../ui/toasts.tsx";
import { useAnnouncementWords } from "../../words/announcement-words.ts";
import { formatDate, isolate } from "../../words/format.ts";
import { visible } from "../../words/visible.ts";
import { useLanguage } from "../../words/words.ts";
import { AnnouncementDialog } from "./announcement-dialog.tsx";
import type { Announcement } from "./draft.ts";
import { changed } from "./lists.ts";

const looks: Record<Announcement["state"], StatusLook> = {
  planned: "starting",
  current: "running",
  over: "asleep",
};

/** One announcement, and what can be done with it. */
export function AnnouncementItem({ announcement }: { announcement: Announcement }) {
  const words = useAnnouncementWords();
  const [isEditing, setEditing] = useState(false);
  const shown = visible(announcement.text.en);
  const isOpen = announcement.state !== "over";
  return (
    <>
      <ListItem
        isLong
        title={<bdi>{shown}</bdi>}
        details={<About announcement={announcement} />}
        actions={
          isOpen && (
            <>
              <Button label={words.editOf(isolate(shown))} onPress={() => setEditing(true)}>
                {words.edit}
              </Button>
              <End announcement={announcement} shown={shown} />
            </>
          )
        }
      />
      {isEditing && <AnnouncementDialog announcement={announcement} onClose={() => setEditing(false)} />}
    </>
  );
}

function About({ announcement }: { announcement: Announcement }) {
  const words = useAnnouncementWords();
  const { language } = useLanguage();
  const { state, ended, maintenance, text, start, end, created_by, servers_told: told } = announcement;
  const date = (at: string) => formatDate(Date.parse(at), language);
  return (
    <>
      {text.zh !== undefined && (
        <div>
          <bdi lang="zh">{visible(text.zh)}</bdi>
        </div>
      )}
      <div>
        <Status look={looks[state]} word={words.states[ended ? "ended" : state]} /> ·{" "}
        {words.kindNames[maintenance ? "maintenance" : "message"]} ·{" "}
        {words.shownTo[announcement.public ? "public" : "signedIn"]}
      </div>
      <div>{words.times(date(start), date(end))}</div>
      <div>
        <bdi>{words.by(visible(created_by))}</bdi>
        {told > 0 && ` · ${words.told(told)}`}
      </div>
    </>
  );
}

function End({ announcement, shown }: { announcement: Announcement; shown: string }) {
  const words = useAnnouncementWords();
  const toast = useToast();
  const end = useAction("announcements.end", changed);
  const { id, state } = announcement;
  const isPlanned = state === "planned";
  const label = (isPlanned ? words.withdrawOf : words.endOf)(isolate(shown));
  const run = () => end.mutate({ id }, { onSuccess: () => toast({ kind: "done", text: words.ended }) });
  const word = isPlanned ? words.withdraw : words.endNow;
  return (
    <AskingButton
      word={word}
      label={label}
      title={isPlanned ? words.withdrawTitle : words.endTitle}
      action={word}
      request={end}
      onConfirm={run}
    >
      {words.endHelp}
    </AskingButton>
  );
}
