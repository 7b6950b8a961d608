import { useParams } from "@tanstack/react-router";
import { poll, useOperation } from "../api/query.ts";
import { CopyButton } from "../ui/copy-button.tsx";
import { Failure } from "../ui/failure.tsx";
import { Card, Muted, Row, Stack } from "../ui/layout.tsx";
import { Loading } from "../ui/loading.tsx";
import { Notice } from "../ui/notice.tsx";
import { Page as PageFrame } from "../ui/page.tsx";
import { Time } from "../ui/time.tsx";
import { useStatusWords } from "../words/status-words.ts";
import { visible } from "../words/visible.ts";
import { DayBars } from "./day-bars.tsx";
import type { StatusPage } from "./days.ts";
import { StateHelp, StateWord, useIsStale } from "./state.tsx";

/** How one server is, for everybody, without signing in. */
export function Page() {
  const words = useStatusWords();
  const { subdomain = "" } = useParams({ strict: false }) as { subdomain?: string };
  const { data, error, refetch } = useOperation("statusPages.readPage", { subdomain }, { every: poll.list });
  const isGone = error?.status === 404;
  const page = isGone ? undefined : data;
  return (
    <PageFrame
      title={page?.name ?? words.title}
      parts={page ? [page.name, words.title] : [words.title]}
      isBusy={!page && !error}
    >
      {isGone && <Muted>{words.notFoundHelp}</Muted>}
      {!isGone && <Failure error={error} retry={() => void refetch()} />}
      {page ? <Shown page={page} /> : !error && <Loading />}
    </PageFrame>
  );
}

function Shown({ page }: { page: StatusPage }) {
  const words = useStatusWords();
  const isStale = useIsStale(page.as_of);
  const { players, address, motd } = page;
  return (
    <Stack>
      {isStale && (
        <Notice kind="waiting">
          <Time at={page.as_of} sentence={words.stale} />
        </Notice>
      )}
      <Card>
        <Row isSpread>
          <StateWord server={page} isStale={isStale} />
          {players && !isStale && <span>{words.players(players.online, players.max)}</span>}
        </Row>
        {!isStale && <StateHelp server={page} />}
        {motd !== undefined && (
          <p>
            <bdi>{visible(motd)}</bdi>
          </p>
        )}
      </Card>
      <Card title={words.address}>
        <Row>
          <code>{address}</code>
          <CopyButton text={address} what={words.address} />
        </Row>
      </Card>
      <DayBars page={page} />
    </Stack>
  );
}
