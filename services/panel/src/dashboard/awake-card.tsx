import { rootDomain } from "../api/hosts.ts";
import { poll, useOperation } from "../api/query.ts";
import { PhaseStatus } from "../server/phase-status.tsx";
import type { ServerRow } from "../server/row.ts";
import { StartBar } from "../server/start-card.tsx";
import { isStarting } from "../server/start-progress.ts";
import { WakeOrStop } from "../server/wake-stop.tsx";
import { CopyButton } from "../ui/copy-button.tsx";
import { Card, Chips, Muted, Row } from "../ui/layout.tsx";
import { Link } from "../ui/link.tsx";
import { useWords } from "../words/words.ts";

/** More are on the page of the server. */
const namesShown = 6;

/** A server that is awake: how many are on and who, and the way to its console. */
export function AwakeCard({ row, isManaged }: { row: ServerRow; isManaged: boolean }) {
  const { server, dashboard, sharing } = useWords();
  const { name, displayName, subdomain, phase, playersOnline, playersMax, playersUnknown } = row;
  const address = `${subdomain}.${rootDomain}`;
  const players = playersUnknown ? server.playersUnknown : server.players(playersOnline, playersMax);
  return (
    <Card
      title={
        <Link to={`/servers/${name}`}>
          <bdi>{displayName}</bdi>
        </Link>
      }
      actions={<PhaseStatus server={row} />}
    >
      <div>
        {row.isShared && <Muted>{sharing.sharedWithYou}</Muted>}
        {phase === "Running" && <p>{players}</p>}
        {isStarting(row) && <StartBar server={row} />}
        {isManaged && playersOnline > 0 && <WhoIsOn name={name} />}
        <Row>
          <Muted>{address}</Muted>
          <CopyButton text={address} what={server.address} />
        </Row>
      </div>
      {isManaged && (
        <Row>
          <Link to={`/servers/${name}`} looks="button">
            {dashboard.open}
          </Link>
          <WakeOrStop server={row} />
        </Row>
      )}
    </Card>
  );
}

function WhoIsOn({ name }: { name: string }) {
  const { server } = useWords();
  const names = useOperation("consoles.listPlayers", { name }, { every: poll.list }).data?.players;
  if (!names || names.length === 0) return null;
  const rest = names.length - namesShown;
  return (
    <Chips label={server.whoIsOn} of={[...names.slice(0, namesShown), ...(rest > 0 ? [`+${rest}`] : [])]} />
  );
}
