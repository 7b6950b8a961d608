import { type ReactNode, useRef } from "react";
import { Needs } from "../access/needs.tsx";
import type { Right } from "../access/presets.ts";
import { type Access, AccessProvider, useMyAccess } from "../access/use-access.ts";
import { Failure } from "../ui/failure.tsx";
import { Link } from "../ui/link.tsx";
import { Loading } from "../ui/loading.tsx";
import { NotFoundPage } from "../ui/not-found-page.tsx";
import { Notice } from "../ui/notice.tsx";
import { Page } from "../ui/page.tsx";
import { isolate } from "../words/format.ts";
import { useWords, type Words } from "../words/words.ts";
import { ClaimIfFree } from "./claim.tsx";
import { heldWords, useWorldWork } from "./held.ts";
import { PhaseStatus } from "./phase-status.tsx";
import { RetirementNotice } from "./retirement-notice.tsx";
import styles from "./server-frame.module.css";
import { isFull, isServerName, type ServerStatus, useServer } from "./use-server.ts";
import { WakeOrStop } from "./wake-stop.tsx";
import { WorldNotice } from "./world-notice.tsx";

type ServerTab = {
  path: string;
  word: (words: Words) => string;
  /** Of whom the server is shared with, only those who have one of these see the page. */
  oneOf?: readonly Right[];
};

/** The pages of a server, in the order of the strip. A page adds its line here. */
export const tabs: readonly ServerTab[] = [
  { path: "", word: ({ server }) => server.overview },
  { path: "/players", word: ({ players }) => players.title, oneOf: ["players"] },
  { path: "/backups", word: ({ backups }) => backups.title },
  { path: "/files", word: ({ files }) => files.title, oneOf: ["files.read"] },
  { path: "/plugins", word: ({ server }) => server.plugins, oneOf: ["files.read"] },
  { path: "/schedules", word: ({ schedules }) => schedules.title, oneOf: ["schedules"] },
  { path: "/luckperms", word: ({ luckPerms }) => luckPerms.title, oneOf: ["players"] },
  { path: "/history", word: ({ history }) => history.title },
  { path: "/activity", word: ({ activity }) => activity.title, oneOf: ["console.read"] },
  { path: "/access", word: ({ sharing }) => sharing.title },
  { path: "/webhooks", word: ({ server }) => server.webhooks, oneOf: ["settings"] },
  { path: "/settings", word: ({ settings }) => settings.title, oneOf: ["settings"] },
];

export type ServerInFrame = {
  name: string;
  status: ServerStatus;
  /** Whether the caller sees it whole, as its owner, a member or staff: the others see the public fields. */
  isManaged: boolean;
};

type ServerFrameProps = {
  /** What the page is about, for the document's title; the overview has none. */
  section?: string;
  /** What a member must have for the page; the others are told so. */
  needs?: readonly Right[];
  children: (server: ServerInFrame) => ReactNode;
};

/** Scrolls the strip of a narrow window to the page that is open. */
function showCurrent(strip: HTMLElement | null): void {
  const current = strip?.querySelector<HTMLElement>("[aria-current=page]");
  if (strip && current) strip.scrollLeft = current.offsetLeft - (strip.clientWidth - current.offsetWidth) / 2;
}

/** The frame of every page of a server: its name, phase and strip. Without the server there is no page. */
export function ServerFrame({ section, needs = [], children }: ServerFrameProps) {
  const words = useWords();
  const { name, status, isManaged, error, refetch } = useServer();
  const mine = useMyAccess(name, isManaged);
  const hasEnded = useEndOfAccess(name, isManaged);
  const held = heldWords(words, useWorldWork(name, isManaged));
  if (!isServerName(name) || error?.code === "not_found")
    return <NotFoundPage title={words.server.notFound(name)} />;
  if (!status) return error ? <Failure error={error} retry={refetch} /> : <Loading />;
  const access = mine.access;
  if (isManaged && !access)
    return mine.error ? <Failure error={mine.error} retry={mine.refetch} /> : <Loading />;
  const full = isFull(status) ? status : undefined;
  const { startGaveUp: gaveUp = false, retiring, stopsAt, desiredState } = full ?? {};
  const target = { ...status, gaveUp, retiring, stopsAt, desiredState, held };
  const title = status.displayName || status.name;
  if (hasEnded) return <Ended title={title} />;
  const page = (
    <Page
      title={title}
      name={title === status.name ? undefined : status.name}
      parts={section === undefined ? [title] : [section, title]}
      aside={<PhaseStatus server={target} isLive />}
      actions={
        isManaged ? (
          <Needs rights={["power"]} otherwise="nothing">
            <WakeOrStop server={target} isMain />
          </Needs>
        ) : (
          <ClaimIfFree name={name} />
        )
      }
    >
      {isManaged && tabs.length > 1 && (
        <nav ref={showCurrent} className={styles.strip} aria-label={words.server.pages}>
          {tabs.filter(isOpenTo(access)).map(({ path, word }) => (
            <Link key={path} to={`/servers/${name}${path}`} marksCurrent="exact">
              {word(words)}
            </Link>
          ))}
        </nav>
      )}
      {isManaged && <WorldNotice name={name} />}
      {full?.retiring && <RetirementNotice name={name} retiring={full.retiring} />}
      {isManaged ? (
        <Needs rights={needs} otherwise="page">
          {children({ name, status, isManaged })}
        </Needs>
      ) : (
        children({ name, status, isManaged })
      )}
    </Page>
  );
  return access ? <AccessProvider value={access}>{page}</AccessProvider> : page;
}

/** Whether somebody with this access may open a page of the strip. */
export function isOpenTo(access: Access | undefined): (tab: ServerTab) => boolean {
  return ({ oneOf }) => oneOf === undefined || oneOf.some((right) => access?.may(right));
}

/** Whether the server was shared with the reader while this page was open, and is not any more. */
function useEndOfAccess(name: string, isManaged: boolean): boolean {
  const managed = useRef<string>(undefined);
  if (isManaged) managed.current = name;
  return !isManaged && managed.current === name;
}

function Ended({ title }: { title: string }) {
  const { sharing, shell } = useWords();
  return (
    <Page title={title}>
      <Notice
        kind="waiting"
        isAlert
        actions={
          <Link to="/servers" looks="button">
            {shell.servers}
          </Link>
        }
      >
        {sharing.ended(isolate(title))}
      </Notice>
    </Page>
  );
}
