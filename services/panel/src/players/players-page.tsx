import { useState } from "react";
import { ServerFrame, type ServerInFrame } from "../server/server-frame.tsx";
import { isFull } from "../server/use-server.ts";
import { Empty } from "../ui/empty.tsx";
import { Card, Columns, Muted, Stack } from "../ui/layout.tsx";
import { Link } from "../ui/link.tsx";
import { NotFoundPage } from "../ui/not-found-page.tsx";
import { useWords } from "../words/words.ts";
import { Bans } from "./bans.tsx";
import { Online } from "./online.tsx";
import { WakeRights } from "./wake-rights.tsx";
import { Whitelist } from "./whitelist.tsx";

/** Who is on a server, who may join it and who may wake it. */
export function Page() {
  const { players } = useWords();
  return (
    <ServerFrame section={players.title} needs={["players"]}>
      {(server) =>
        server.isManaged ? <Players key={server.name} {...server} /> : <NotFoundPage title={players.title} />
      }
    </ServerFrame>
  );
}

function Players({ name, status }: ServerInFrame) {
  const { players } = useWords();
  // Kept here, so that nothing typed is lost when the server stops.
  const [toWhitelist, setToWhitelist] = useState("");
  const [toBan, setToBan] = useState("");
  const policy = isFull(status) ? status.autostartPolicy : undefined;
  return (
    <Stack>
      {status.phase === "Running" ? (
        <>
          <Online name={name} />
          <Columns isWide>
            <Whitelist name={name} typed={toWhitelist} setTyped={setToWhitelist} />
            <Bans name={name} typed={toBan} setTyped={setToBan} />
          </Columns>
        </>
      ) : (
        <Empty title={players.asleep}>{players.asleepHelp}</Empty>
      )}
      <Card
        title={players.known}
        actions={
          <Link to="/players" search={{ server: name }}>
            {players.seeKnown}
          </Link>
        }
      >
        <Muted>{players.knownHelp}</Muted>
      </Card>
      <WakeRights name={name} policy={policy} />
    </Stack>
  );
}
