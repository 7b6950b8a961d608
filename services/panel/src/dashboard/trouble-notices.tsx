import { poll, useOperation, useOperations } from "../api/query.ts";
import type { ServerRow } from "../server/row.ts";
import { Stack } from "../ui/layout.tsx";
import { Link } from "../ui/link.tsx";
import { Notice } from "../ui/notice.tsx";
import { Time } from "../ui/time.tsx";
import { isolate } from "../words/format.ts";
import { useWords } from "../words/words.ts";
import { shownAtOnce } from "./overview.tsx";
import { type Trouble, troublesOf } from "./troubles.ts";

/** What is wrong with backups and tasks of the person's own servers. */
export function useTroubles(rows: readonly ServerRow[]): readonly Trouble[] {
  const names = rows.filter(({ isMine }) => isMine).map(({ name }) => name);
  const newest = { limit: 100, offset: 0 } as const;
  const backups = useOperation("backups.list", newest, { every: poll.history, enabled: names.length > 0 });
  // Who owns more has their pages of schedules for it.
  const inputs = names.slice(0, shownAtOnce).map((name) => ({ name }));
  const schedules = useOperations("schedules.list", inputs, { every: poll.history });
  const own = (backups.data?.backups ?? []).filter(({ server_name }) => names.includes(server_name));
  return troublesOf(
    own,
    schedules.flatMap(({ data }) => data?.schedules ?? []),
  );
}

export function TroubleNotices({ troubles }: { troubles: readonly Trouble[] }) {
  if (troubles.length === 0) return null;
  return (
    <Stack isTight>
      {troubles.slice(0, shownAtOnce).map((trouble) => (
        <TroubleNotice key={JSON.stringify(trouble)} trouble={trouble} />
      ))}
    </Stack>
  );
}

function TroubleNotice({ trouble }: { trouble: Trouble }) {
  const { backups, dashboard, schedules } = useWords();
  const { kind, server, at } = trouble;
  const text = () => {
    if (trouble.kind === "corrupt") return dashboard.corrupt(isolate(server), trouble.count);
    const { action, label } = trouble.task;
    const task = label === "" ? schedules.actions[action] : isolate(label);
    return dashboard[trouble.kind](isolate(server), task);
  };
  const [page, word] = kind === "corrupt" ? ["backups", backups.title] : ["schedules", schedules.title];
  return (
    <Notice
      kind={kind === "corrupt" ? "failed" : "waiting"}
      actions={
        <Link to={`/servers/${server}/${page}`} looks="button">
          {word}
        </Link>
      }
    >
      {text()} {at !== undefined && <Time at={at} />}
    </Notice>
  );
}
