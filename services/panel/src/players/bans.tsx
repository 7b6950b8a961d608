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

/** Who cannot join, by name; banned addresses are not shown. */
export function Bans({ name, typed, setTyped }: ListProps) {
  const { players } = useWords();
  const { data, error, refetch } = useOperation("consoles.listBans", { name });
  const change = async (action: "ban" | "pardon", player: string) =>
    (await call("consoles.changeBan", { name, action, player })).output;
  const readList = async () => (await refetch({ throwOnError: true })).data?.players ?? [];
  return (
    <Card title={players.bans}>
      <Muted>{players.bansHelp}</Muted>
      {!data && (error ? <Failure error={error} retry={() => void refetch()} /> : <Loading />)}
      {data?.players.length === 0 && <Muted>{players.bansEmpty}</Muted>}
      {data && (
        <NameList
          label={players.bans}
          names={data.players}
          draw={(player) => (
            <ListedPlayer
              key={player}
              player={player}
              action={players.unban}
              label={players.unbanOf}
              done={players.unbanned}
              remove={() => change("pardon", player)}
              restore={() => change("ban", player)}
              readList={readList}
            />
          )}
        />
      )}
      {data && (
        <AddNames
          label={players.banNames}
          action={players.ban}
          typed={typed}
          setTyped={setTyped}
          add={(player) => change("ban", player)}
          readList={readList}
        />
      )}
    </Card>
  );
}
