import { poll, useOperation } from "../api/query.ts";
import { Failure } from "../ui/failure.tsx";
import { Muted, Stack } from "../ui/layout.tsx";
import { Link } from "../ui/link.tsx";
import { List, ListItem } from "../ui/list.tsx";
import { Loading } from "../ui/loading.tsx";
import { Notice } from "../ui/notice.tsx";
import { Page as PageFrame } from "../ui/page.tsx";
import { Time } from "../ui/time.tsx";
import { useStatusWords } from "../words/status-words.ts";
import { visible } from "../words/visible.ts";
import { StateWord, type StatusServer, useIsStale } from "./state.tsx";

/** The servers of the installation whose status is shown, for everybody, without signing in. */
export function Page() {
  const words = useStatusWords();
  const { data, error, refetch } = useOperation("statusPages.readOverview", {}, { every: poll.list });
  const isGone = error?.status === 404;
  const overview = isGone ? undefined : data;
  const isStale = useIsStale(overview?.as_of);
  return (
    <PageFrame title={words.title} isBusy={!overview && !error}>
      <Stack>
        {isGone && <Muted>{words.notFoundHelp}</Muted>}
        {!isGone && <Failure error={error} retry={() => void refetch()} />}
        {!overview && !error && <Loading />}
        {overview && isStale && (
          <Notice kind="waiting">
            <Time at={overview.as_of} sentence={words.stale} />
          </Notice>
        )}
        {overview?.servers.length === 0 && <Muted>{words.noServers}</Muted>}
        {overview && overview.servers.length > 0 && (
          <List label={words.title}>
            {overview.servers.map((server) => (
              <Server key={server.subdomain} server={server} isStale={isStale} />
            ))}
          </List>
        )}
        {overview && overview.more > 0 && <Muted>{words.more(overview.more)}</Muted>}
      </Stack>
    </PageFrame>
  );
}

function Server({ server, isStale }: { server: StatusServer; isStale: boolean }) {
  const words = useStatusWords();
  const { subdomain, name, address, players } = server;
  return (
    <ListItem
      title={
        <Link to={`/status/${subdomain}`}>
          <bdi>{visible(name)}</bdi>
        </Link>
      }
      details={
        <>
          {address}
          {players && !isStale && ` · ${words.players(players.online, players.max)}`}
        </>
      }
      actions={<StateWord server={server} isStale={isStale} />}
    />
  );
}
