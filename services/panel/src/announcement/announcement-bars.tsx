import type { Output } from "../api/operations.ts";
import { poll, useOperation } from "../api/query.ts";
import { Notice } from "../ui/notice.tsx";
import { useNow } from "../ui/now.ts";
import { Time } from "../ui/time.tsx";
import { visible } from "../words/visible.ts";
import { useFirstWords, useLanguage } from "../words/words.ts";

type Announcement = Output<"announcements.listShown">["items"][number];

const lookMs = 15_000;

/** What staff announce, on top of every page; on sign-in what is for everybody. */
export function AnnouncementBars({ isSignedIn }: { isSignedIn: boolean }) {
  const options = { every: poll.history };
  const own = useOperation("announcements.listShown", {}, { ...options, enabled: isSignedIn });
  const all = useOperation("announcements.listPublic", {}, { ...options, enabled: !isSignedIn });
  const now = useNow(lookMs);
  // What failed is asked for again; the page does not speak of it.
  const shown = (isSignedIn ? own : all).data?.items ?? [];
  return shown
    .filter(({ end }) => now < Date.parse(end))
    .sort((one, other) => Date.parse(one.start) - Date.parse(other.start))
    .map((one) => <Bar key={one.id} announcement={one} isPlanned={now < Date.parse(one.start)} />);
}

function Bar({ announcement, isPlanned }: { announcement: Announcement; isPlanned: boolean }) {
  const { shell } = useFirstWords();
  const { language } = useLanguage();
  const { text, severity, maintenance, start, end } = announcement;
  const words = language === "zh-CN" ? (text.zh ?? text.en) : text.en;
  return (
    <Notice kind={severity === "warning" ? "waiting" : "info"}>
      <strong>{maintenance ? shell.maintenance : shell.announcement}</strong> <bdi>{visible(words)}</bdi>{" "}
      {maintenance && <Time at={isPlanned ? start : end} sentence={isPlanned ? shell.begins : shell.ends} />}{" "}
      {maintenance && shell.noWakes}
    </Notice>
  );
}
