import { useState } from "react";
import { useAction, useOperation } from "../api/query.ts";
import { Button } from "../ui/button.tsx";
import { Confirm } from "../ui/confirm.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Failure } from "../ui/failure.tsx";
import { Muted } from "../ui/layout.tsx";
import { List, ListItem } from "../ui/list.tsx";
import { Loading } from "../ui/loading.tsx";
import { saveText } from "../ui/save-text.ts";
import { Time } from "../ui/time.tsx";
import { useToast } from "../ui/toasts.tsx";
import { isolate } from "../words/format.ts";
import { useKnownPlayerWords } from "../words/known-player-words.ts";
import { visible } from "../words/visible.ts";
import { useWords } from "../words/words.ts";
import { clockOf } from "./view.ts";

/** What servers know about a player of one's own: to see, to export and to erase. */
export function OwnData({ mcUuid, onClose }: { mcUuid: string; onClose: () => void }) {
  const words = useKnownPlayerWords();
  const { shell } = useWords();
  const toast = useToast();
  const { data, error, refetch } = useOperation("playerData.read", { mc_uuid: mcUuid });
  const erase = useAction("playerData.erase", ["playerData.read"]);
  const [isAsking, setAsking] = useState(false);
  const player = isolate(mcUuid);
  const save = () => data && saveText(`${mcUuid}.json`, `${JSON.stringify(data, undefined, 2)}\n`);
  const run = () =>
    erase.mutate({ mc_uuid: mcUuid }, { onSuccess: () => toast({ kind: "done", text: words.erased }) });
  return (
    <>
      <Dialog
        isOpen
        title={words.ownOf(player)}
        onClose={onClose}
        actions={
          <>
            <Button onPress={onClose}>{shell.close}</Button>
            {data && <Button onPress={save}>{words.export}</Button>}
            {data && (
              <Button isPending={erase.isPending} onPress={() => setAsking(true)}>
                {words.erase}
              </Button>
            )}
          </>
        }
      >
        <Muted>{words.ownHelp}</Muted>
        {!data && (error ? <Failure error={error} retry={() => void refetch()} /> : <Loading />)}
        {data && <Kept data={data} />}
        <Failure error={erase.error} />
      </Dialog>
      <Confirm
        title={words.eraseTitle(player)}
        action={words.eraseAction}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={run}
      >
        <p>{words.eraseHelp}</p>
        <p>{words.stays}</p>
      </Confirm>
    </>
  );
}

type Data = NonNullable<ReturnType<typeof useOperation<"playerData.read">>["data"]>;

function Kept({ data }: { data: Data }) {
  const words = useKnownPlayerWords();
  return (
    <>
      {data.servers.length === 0 && <Muted>{words.ownNone}</Muted>}
      {data.servers.length > 0 && (
        <List label={words.atServers}>
          {data.servers.map((at) => (
            <ListItem
              key={at.server}
              title={at.server}
              details={
                <>
                  {words.time(...clockOf(at.played_seconds))}, {words.onServer(at.visits)}. {words.lastSeen}{" "}
                  <Time at={at.last_seen} />
                </>
              }
            />
          ))}
        </List>
      )}
      {data.notes.length > 0 && (
        <List label={words.ownNotes(data.notes.length)}>
          {data.notes.map(({ server, text, at }) => (
            <ListItem
              key={`${server} ${at} ${text}`}
              title={<bdi>{visible(text)}</bdi>}
              details={
                <>
                  {server}, <Time at={at} />
                </>
              }
            />
          ))}
        </List>
      )}
      <Muted>
        {words.keptFor(Math.round(data.kept_days))} {words.stays}
      </Muted>
    </>
  );
}
