import { useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { poll, useOperation } from "../api/query.ts";
import { Button } from "../ui/button.tsx";
import { Empty } from "../ui/empty.tsx";
import { Failure } from "../ui/failure.tsx";
import { Filters } from "../ui/filters.tsx";
import { Muted } from "../ui/layout.tsx";
import { Link } from "../ui/link.tsx";
import { Loading } from "../ui/loading.tsx";
import { Page as PageFrame } from "../ui/page.tsx";
import { Pager } from "../ui/pager.tsx";
import { SearchField } from "../ui/search-field.tsx";
import { Select } from "../ui/select.tsx";
import { Time } from "../ui/time.tsx";
import { type Column, VirtualTable } from "../ui/virtual-table.tsx";
import type { KnownPlayerWords } from "../words/en/known-players.ts";
import { useKnownPlayerWords } from "../words/known-player-words.ts";
import { visible } from "../words/visible.ts";
import { addressOf, clockOf, type Known, pageSize, requestOf, sorts, type View, viewOf } from "./view.ts";

/** Who was on the servers whose players the person may see. */
export function Page() {
  const words = useKnownPlayerWords();
  const navigate = useNavigate();
  const view = viewOf(useSearch({ strict: false }) as Readonly<Record<string, unknown>>);
  const { data, error, refetch } = useOperation("knownPlayers.list", requestOf(view), {
    every: poll.list,
    keepsPrevious: true,
  });
  const columns = useMemo(() => columnsOf(words), [words]);
  const show = (change: Partial<View>) =>
    void navigate({ to: "/players", search: addressOf({ ...view, page: 1, ...change }), replace: true });
  const isFiltered = view.search.trim() !== "" || view.server !== "";
  const clear = () => show({ search: "", server: "" });
  return (
    <PageFrame title={words.title} isBusy={!data}>
      <Muted>{words.help}</Muted>
      <PlayerFilters view={view} show={show} />
      {error && <Failure error={error} retry={() => void refetch()} />}
      {!data && !error && <Loading />}
      {data && data.players.length > 0 && (
        <VirtualTable label={words.title} columns={columns} rows={data.players} keyOf={idOf} rowPx={rowPx} />
      )}
      {data && data.players.length === 0 && <NoPlayers isFiltered={isFiltered} clear={clear} />}
      {data && data.total > 0 && (
        <Pager
          text={words.shown(data.players.length, data.total)}
          back={{
            word: words.previous,
            run: view.page > 1 ? () => show({ page: view.page - 1 }) : undefined,
          }}
          on={{
            word: words.next,
            run: view.page * pageSize < data.total ? () => show({ page: view.page + 1 }) : undefined,
          }}
        />
      )}
    </PageFrame>
  );
}

const idOf = ({ mc_uuid }: Known) => mc_uuid;
const rowPx = {
  wide: { comfortable: 52, compact: 42 },
  narrow: { comfortable: 156, compact: 144 },
} as const;

function NoPlayers({ isFiltered, clear }: { isFiltered: boolean; clear: () => void }) {
  const words = useKnownPlayerWords();
  if (!isFiltered) return <Empty title={words.none}>{words.noneHelp}</Empty>;
  return <Empty title={words.noMatch} action={<Button onPress={clear}>{words.clear}</Button>} />;
}

function PlayerFilters({ view, show }: { view: View; show: (change: Partial<View>) => void }) {
  const words = useKnownPlayerWords();
  return (
    <Filters label={words.filters}>
      <SearchField
        label={words.search}
        value={view.search}
        onChange={(search) => show({ search })}
        maxLength={16}
      />
      {view.server !== "" && (
        <Select
          label={words.server}
          value={view.server}
          onChange={(server) => show({ server })}
          options={[
            [view.server, view.server],
            ["", words.allServers],
          ]}
        />
      )}
      <Select
        label={words.sort}
        value={view.sort}
        onChange={(sort) => show({ sort })}
        options={sorts.map((name) => [name, words.sorts[name]])}
      />
    </Filters>
  );
}

function columnsOf(words: KnownPlayerWords): Column<Known>[] {
  return [
    {
      key: "name",
      title: words.name,
      width: "minmax(0, 1.4fr)",
      cell: ({ mc_uuid, name }) => (
        <Link to={`/players/${mc_uuid}`}>
          <bdi>{visible(name)}</bdi>
        </Link>
      ),
    },
    {
      key: "played",
      title: words.played,
      width: "minmax(0, 1fr)",
      cell: ({ played_seconds }) => words.time(...clockOf(played_seconds)),
    },
    { key: "visits", title: words.visits, width: "90px", cell: ({ visits }) => visits },
    { key: "servers", title: words.servers, width: "90px", cell: ({ servers }) => servers },
    {
      key: "last",
      title: words.lastSeen,
      width: "180px",
      cell: ({ last_seen }) => <Time at={last_seen} />,
    },
  ];
}
