import type { ReactNode } from "react";
import { Failure } from "../ui/failure.tsx";
import { Link } from "../ui/link.tsx";
import { Loading } from "../ui/loading.tsx";
import { NotFoundPage } from "../ui/not-found-page.tsx";
import { Page } from "../ui/page.tsx";
import { isolate } from "../words/format.ts";
import { useWords, type Words } from "../words/words.ts";
import { ClaimIfFree } from "./claim.tsx";
import { PhaseStatus } from "./phase-status.tsx";
import { RetirementNotice } from "./retirement-notice.tsx";
import styles from "./server-frame.module.css";
import { isFull, isServerName, type ServerStatus, useServer } from "./use-server.ts";
import { WakeOrStop } from "./wake-stop.tsx";
import { WorldNotice } from "./world-notice.tsx";

type ServerTab = { path: string; word: (words: Words) => string };

/** The pages of a server, in the order of the strip. A page adds its line here. */
export const tabs: readonly ServerTab[] = [
  { path: "", word: ({ server }) => server.overview },
  { path: "/players", word: ({ players }) => players.title },
  { path: "/backups", word: ({ backups }) => backups.title },
  { path: "/files", word: ({ files }) => files.title },
  { path: "/schedules", word: ({ schedules }) => schedules.title },
  { path: "/luckperms", word: ({ luckPerms }) => luckPerms.title },
  { path: "/history", word: ({ history }) => history.title },
  { path: "/activity", word: ({ activity }) => activity.title },
  { path: "/settings", word: ({ settings }) => settings.title },
];

export type ServerInFrame = {
  name: string;
  status: ServerStatus;
  /** Whether the caller owns it or is staff: the others see the public fields. */
  isManaged: boolean;
};

type ServerFrameProps = {
  /** What the page is about, for the document's title; the overview has none. */
  section?: string;
  children: (server: ServerInFrame) => ReactNode;
};

/** Scrolls the strip of a narrow window to the page that is open. */
function showCurrent(strip: HTMLElement | null): void {
  const current = strip?.querySelector<HTMLElement>("[aria-current=page]");
  if (strip && current) strip.scrollLeft = current.offsetLeft - (strip.clientWidth - current.offsetWidth) / 2;
}

/** The frame of every page of a server: its name, phase and strip. Without the server there is no page. */
export function ServerFrame({ section, children }: ServerFrameProps) {
  const words = useWords();
  const { name, status, isManaged, error, refetch } = useServer();
  if (!isServerName(name) || error?.code === "not_found")
    return <NotFoundPage title={words.server.notFound(isolate(name))} />;
  if (!status) return error ? <Failure error={error} retry={refetch} /> : <Loading />;
  const full = isFull(status) ? status : undefined;
  const { startGaveUp: gaveUp = false, retiring, stopsAt, desiredState } = full ?? {};
  const target = { ...status, gaveUp, retiring, stopsAt, desiredState };
  const title = status.displayName || status.name;
  return (
    <Page
      title={title}
      name={title === status.name ? undefined : status.name}
      parts={section === undefined ? [title] : [section, title]}
      aside={<PhaseStatus server={target} isLive />}
      actions={isManaged ? <WakeOrStop server={target} isMain /> : <ClaimIfFree name={name} />}
    >
      {isManaged && tabs.length > 1 && (
        <nav ref={showCurrent} className={styles.strip} aria-label={words.server.pages}>
          {tabs.map(({ path, word }) => (
            <Link key={path} to={`/servers/${name}${path}`} marksCurrent="exact">
              {word(words)}
            </Link>
          ))}
        </nav>
      )}
      {isManaged && <WorldNotice name={name} />}
      {full?.retiring && <RetirementNotice name={name} retiring={full.retiring} />}
      {children({ name, status, isManaged })}
    </Page>
  );
}
