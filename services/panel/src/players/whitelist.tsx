import { call } from "../api/call.ts";
import { useOperation } from "../api/query.ts";
import { Failure } from "../ui/failure.tsx";
import { Card, Muted } from "../ui/layout.tsx";
import { Loading } from "../ui/loading.tsx";
import { useWords } from "../words/words.ts";
import { AddNames } from "./add-names.tsx";
import { ListedPlayer } from "./listed-player.tsx";
import { NameList } from "./name-list.tsx";

type ListProps = { name: string; typed: string; setTyped: (text: string) => void };

/** Who may join while the server enforces its whitelist. */
export function Whitelist({ name, typed, setTyped }: ListProps) {
  const { players } = useWords();
  const { data, error, refetch } = useOperation("consoles.listWhitelist", { name });
  const change = async (action: "add" | "remove", player: string) =>
    (await call("consoles.changeWhitelist", { name, action, player })).output;
  const readList = async () => (await refetch({ throwOnError: true })).data?.players ?? [];
  return (
    <Card title={players.whitelist}>
      <Muted>{players.whitelistHelp}</Muted>
      {!data && (error ? <Failure error={error} retry={() => void refetch()} /> : <Loading />)}
      {data?.players.length === 0 && <Muted>{players.whitelistEmpty}</Muted>}
      {data && (
        <NameList
          label={players.whitelist}
          names={data.players}
          draw={(player) => (
            <ListedPlayer
              key={player}
              player={player}
              action={players.remove}
              label={players.removeOf}
              done={players.removed}
              remove={() => change("remove", player)}
              restore={() => change("add", player)}
              readList={readList}
            />
          )}
        />
      )}
      {data && (
        <AddNames
          label={players.addToWhitelist}
          action={players.add}
          typed={typed}
          setTyped={setTyped}
          add={(player) => change("add", player)}
          readList={readList}
        />
      )}
    </Card>
  );
}
