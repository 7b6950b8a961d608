import { useState } from "react";
import { poll, useAction, useOperation } from "../api/query.ts";
import { useMe } from "../api/session.ts";
import { Button } from "../ui/button.tsx";
import { Confirm } from "../ui/confirm.tsx";
import { Failure } from "../ui/failure.tsx";
import { Card, Muted } from "../ui/layout.tsx";
import { ListItem } from "../ui/list.tsx";
import { Loading } from "../ui/loading.tsx";
import { Time } from "../ui/time.tsx";
import { failedToast, useToast } from "../ui/toasts.tsx";
import type { Fault } from "../words/faults.ts";
import { isolate } from "../words/format.ts";
import { visible } from "../words/visible.ts";
import { useWords } from "../words/words.ts";
import { NameList } from "./name-list.tsx";
import { isPlayerName } from "./player-names.ts";

/** Who is on now. How long is known of players who came through a proxy, and told to staff. */
export function Online({ name }: { name: string }) {
  const { server, players } = useWords();
  const { data, error, refetch } = useOperation("consoles.listPlayers", { name }, { every: poll.status });
  const since = useConnectedSince(name);
  return (
    <Card
      title={players.online}
      actions={data && <span role="status">{server.players(data.online, data.max)}</span>}
    >
      {!data && (error ? <Failure error={error} retry={() => void refetch()} /> : <Loading />)}
      {data && data.players.length === 0 && (
        <Muted>{data.online === 0 ? server.nobody : players.namesUnknown}</Muted>
      )}
      {data && (
        <NameList
          label={players.online}
          names={data.players}
          draw={(player) => (
            <OnlinePlayer key={player} name={name} player={player} since={since.get(player)} />
          )}
        />
      )}
    </Card>
  );
}

function useConnectedSince(name: string): ReadonlyMap<string, string> {
  const isStaff = useMe().data?.is_admin ?? false;
  const { data } = useOperation("players.list", {}, { every: poll.list, enabled: isStaff });
  const here = data?.players.filter((player) => player.server === name) ?? [];
  return new Map(here.map((player) => [player.name, player.since]));
}

type Act = "kick" | "ban";
type OnlinePlayerProps = { name: string; player: string; since: string | undefined };

function OnlinePlayer({ name, player, since }: OnlinePlayerProps) {
  const words = useWords();
  const { players } = words;
  const toast = useToast();
  const kick = useAction("consoles.kick", ["consoles.listPlayers"]);
  const ban = useAction("consoles.changeBan", ["consoles.listPlayers", "consoles.listBans"]);
  const [asked, setAsked] = useState<Act>();
  const shown = isolate(player);
  const ended = {
    onSuccess: ({ output }: { output: string }) => {
      const text = asked === "ban" ? players.banned(shown) : players.kicked(shown);
      toast({ kind: "done", text: output === "" ? text : `${text} ${players.said(isolate(output))}` });
    },
    onError: (error: Fault) => toast(failedToast(words, error)),
  };
  const act = () => {
    if (asked === "ban") ban.mutate({ name, action: "ban", player }, ended);
    else kick.mutate({ name, player }, ended);
  };
  return (
    <>
      <ListItem
        title={<bdi>{visible(player)}</bdi>}
        {...(since !== undefined && {
          details: (
            <>
              {players.connected} <Time at={since} />
            </>
          ),
        })}
        {...(isPlayerName(player) && {
          actions: (
            <>
              <Button
                isPending={kick.isPending}
                label={players.kickOf(shown)}
                onPress={() => setAsked("kick")}
              >
                {players.kick}
              </Button>
              <Button isPending={ban.isPending} label={players.banOf(shown)} onPress={() => setAsked("ban")}>
                {players.ban}
              </Button>
            </>
          ),
        })}
      />
      <Confirm
        title={asked === "ban" ? players.banTitle(shown) : players.kickTitle(shown)}
        action={asked === "ban" ? players.banAction : players.kickAction}
        isOpen={asked !== undefined}
        onClose={() => setAsked(undefined)}
        onConfirm={act}
      >
        <p>{asked === "ban" ? players.banHelp : players.kickHelp}</p>
      </Confirm>
    </>
  );
}
