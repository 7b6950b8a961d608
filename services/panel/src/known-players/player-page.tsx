import { useParams } from "@tanstack/react-router";
import type { Output } from "../api/operations.ts";
import { poll, useOperation } from "../api/query.ts";
import { Copied } from "../ui/copied.tsx";
import { Failure } from "../ui/failure.tsx";
import { Card, Columns, Stack } from "../ui/layout.tsx";
import { Link } from "../ui/link.tsx";
import { List, ListItem } from "../ui/list.tsx";
import { Loading } from "../ui/loading.tsx";
import { NotFoundPage } from "../ui/not-found-page.tsx";
import { Page as PageFrame } from "../ui/page.tsx";
import { Status } from "../ui/status.tsx";
import { Time } from "../ui/time.tsx";
import { useKnownPlayerWords } from "../words/known-player-words.ts";
import { visible } from "../words/visible.ts";
import { Access } from "./access.tsx";
import { Notes } from "./notes.tsx";
import { clockOf, isPlayerId } from "./view.ts";

type Player = Output<"knownPlayers.read">;

/** One player on the servers whose players the person may see. */
export function Page() {
  const words = useKnownPlayerWords();
  const { id = "" } = useParams({ strict: false }) as { id?: string };
  const { data, error, refetch } = useOperation(
    "knownPlayers.read",
    { mc_uuid: id },
    { enabled: isPlayerId(id), every: poll.list },
  );
  if (!isPlayerId(id) || error?.code === "known_player_not_found")
    return <NotFoundPage title={words.notFound} />;
  if (!data) return error ? <Failure error={error} retry={() => void refetch()} /> : <Loading />;
  return (
    <PageFrame
      title={visible(data.name)}
      parts={[data.name, words.title]}
      aside={<Copied text={data.mc_uuid} what={words.id} />}
    >
      <Stack>
        <AtServers player={data} />
        <Columns isWide>
          <Access key={`access ${data.mc_uuid}`} player={data} />
          <Notes key={`notes ${data.mc_uuid}`} player={data} />
        </Columns>
      </Stack>
    </PageFrame>
  );
}

function AtServers({ player }: { player: Player }) {
  const words = useKnownPlayerWords();
  return (
    <Card title={words.atServers}>
      <List label={words.atServers}>
        {player.servers.map((at) => (
          <ListItem
            key={at.server}
            title={<Link to={`/servers/${at.server}/players`}>{at.server}</Link>}
            details={
              <>
                {words.time(...clockOf(at.played_seconds))}, {words.onServer(at.visits)} · {words.firstSeen}{" "}
                <Time at={at.first_seen} /> · {words.lastSeen} <Time at={at.last_seen} />
              </>
            }
            {...(at.online && { actions: <Status look="running" word={words.online} /> })}
          />
        ))}
      </List>
    </Card>
  );
}
