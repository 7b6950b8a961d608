import { useQueryClient } from "@tanstack/react-query";
import { useDeferredValue, useMemo, useState } from "react";
import type { Output } from "../api/operations.ts";
import { keyOf, useAction, useOperation } from "../api/query.ts";
import type { FullStatus } from "../server/use-server.ts";
import { Copied } from "../ui/copied.tsx";
import { Failure } from "../ui/failure.tsx";
import { Field } from "../ui/field.tsx";
import { Card, Muted } from "../ui/layout.tsx";
import { Link } from "../ui/link.tsx";
import { Loading } from "../ui/loading.tsx";
import { Switch } from "../ui/switch.tsx";
import { Time } from "../ui/time.tsx";
import { failedToast, useToast } from "../ui/toasts.tsx";
import { type Column, VirtualTable } from "../ui/virtual-table.tsx";
import type { Fault } from "../words/faults.ts";
import { isolate } from "../words/format.ts";
import { visible } from "../words/visible.ts";
import { useWords, type Words } from "../words/words.ts";

type Allowlist = Output<"ownership.listAllowlist">;
type Entry = Allowlist["entries"][number];
type WakeRightsProps = { name: string; policy: FullStatus["autostartPolicy"] };

const searchedFrom = 12;

/** Who joined before, and whether they may wake the server; also while it sleeps. */
export function WakeRights({ name, policy = "public" }: WakeRightsProps) {
  const words = useWords();
  const { players } = words;
  const { data, error, refetch } = useOperation("ownership.listAllowlist", { name });
  const change = useWakeRight(name);
  const [search, setSearch] = useState("");
  const wanted = useDeferredValue(search).trim().toLowerCase();
  const entries = data?.entries;
  const shown = useMemo(
    () =>
      entries?.filter(({ username = "", mc_uuid }) =>
        `${username} ${mc_uuid}`.toLowerCase().includes(wanted),
      ),
    [entries, wanted],
  );
  const columns = useMemo(() => columnsOf(words, change), [words, change]);
  return (
    <Card
      title={players.wakeRights}
      actions={<Link to={`/servers/${name}/settings`}>{players.changePolicy}</Link>}
    >
      <Muted>{players.wakeHelp[policy]}</Muted>
      {!entries && (error ? <Failure error={error} retry={() => void refetch()} /> : <Loading />)}
      {entries?.length === 0 && <Muted>{players.wakeEmpty}</Muted>}
      {entries && entries.length >= searchedFrom && (
        <Field
          label={players.search}
          name="search-allowlist"
          type="search"
          inputMode="search"
          value={search}
          onChange={setSearch}
        />
      )}
      {entries && entries.length > 0 && shown?.length === 0 && <Muted>{players.noMatch}</Muted>}
      {shown && shown.length > 0 && (
        <VirtualTable label={players.wakeRights} columns={columns} rows={shown} keyOf={idOf} />
      )}
    </Card>
  );
}

const idOf = ({ mc_uuid }: Entry) => mc_uuid;

function columnsOf(
  { players }: Words,
  change: (entry: Entry, canWake: boolean) => void,
): readonly Column<Entry>[] {
  return [
    {
      key: "player",
      title: players.player,
      width: "minmax(0, 1fr)",
      cell: ({ username }) => (username === undefined ? players.notLinked : <bdi>{visible(username)}</bdi>),
    },
    {
      key: "id",
      title: players.playerId,
      width: "340px",
      cell: ({ mc_uuid }) => <Copied text={mc_uuid} what={players.playerId} />,
    },
    { key: "joined", title: players.joined, width: "180px", cell: ({ added_at }) => <Time at={added_at} /> },
    {
      key: "wake",
      title: players.mayWake,
      width: "90px",
      cell: (entry) => (
        <Switch
          label={players.mayWakeOf(isolate(entry.username ?? entry.mc_uuid))}
          isOn={entry.can_wake}
          onChange={(isOn) => change(entry, isOn)}
        />
      ),
    },
  ];
}

/** Changes the right of one player: on the page at once, and back when it is refused or undone. */
function useWakeRight(name: string): (entry: Entry, canWake: boolean) => void {
  const words = useWords();
  const toast = useToast();
  const client = useQueryClient();
  const { mutate } = useAction("ownership.changeAllowlist", ["ownership.listAllowlist"]);
  return useMemo(() => {
    const queryKey = keyOf("ownership.listAllowlist", { name });
    const show = ({ mc_uuid }: Entry, can_wake: boolean) => {
      void client.cancelQueries({ queryKey });
      client.setQueryData<Allowlist>(
        queryKey,
        (known) =>
          known && {
            ...known,
            entries: known.entries.map((one) => (one.mc_uuid === mc_uuid ? { ...one, can_wake } : one)),
          },
      );
    };
    const change = (entry: Entry, canWake: boolean) => {
      show(entry, canWake);
      const { players } = words;
      const player = isolate(entry.username ?? entry.mc_uuid);
      const undo = { word: players.undo, run: () => change(entry, !canWake) };
      const onError = (error: Fault) => {
        show(entry, !canWake);
        toast(failedToast(words, error));
      };
      const onSuccess = () =>
        toast({
          kind: "done",
          text: canWake ? players.wakes(player) : players.wakesNot(player),
          action: undo,
        });
      mutate({ name, uuid: entry.mc_uuid, can_wake: canWake }, { onError, onSuccess });
    };
    return change;
  }, [client, mutate, name, toast, words]);
}
