import { useNavigate, useSearch } from "@tanstack/react-router";
import { useDeferredValue, useMemo } from "react";
import { Button } from "../ui/button.tsx";
import { Empty } from "../ui/empty.tsx";
import { Failure } from "../ui/failure.tsx";
import { Field } from "../ui/field.tsx";
import { Grow, Muted, Row } from "../ui/layout.tsx";
import { Loading } from "../ui/loading.tsx";
import { Page as PageFrame } from "../ui/page.tsx";
import { Select } from "../ui/select.tsx";
import { useTypedSearch } from "../ui/use-typed-search.ts";
import { VirtualTable } from "../ui/virtual-table.tsx";
import { visible } from "../words/visible.ts";
import { useWords } from "../words/words.ts";
import { columnsOf } from "./columns.tsx";
import { filters, type ListView, listViewOf, type ServerRow, selectRows, sorts, tagNamesOf } from "./row.ts";
import { useOwnServers } from "./use-servers.ts";

const nameOf = ({ name }: ServerRow) => name;

/** The servers that the person owns or may claim. */
export function OwnList() {
  const words = useWords();
  const { servers } = words;
  const navigate = useNavigate();
  const query = useSearch({ strict: false }) as Record<string, unknown>;
  const address = listViewOf(query);
  const { filter, sort, tag } = address;
  const [typed, setTyped] = useTypedSearch(address.search, (text) => show({ search: text }));
  const view = { ...address, search: typed };
  const { rows, error, refetch } = useOwnServers();
  const search = useDeferredValue(typed);
  const columns = useMemo(() => columnsOf(words, false), [words]);
  const shown = useMemo(
    () => selectRows(rows ?? [], { search, filter, sort, tag }),
    [rows, search, filter, sort, tag],
  );
  const tags = useMemo(() => tagNamesOf(rows ?? []), [rows]);
  const show = (change: Partial<ListView>) => {
    const next = { ...view, ...change };
    const given = {
      ...(next.search !== "" && { q: next.search }),
      ...(next.filter !== "all" && { show: next.filter }),
      ...(next.sort !== "name" && { sort: next.sort }),
      ...(next.tag !== "" && { tag: next.tag }),
    };
    void navigate({ to: "/servers", search: given, replace: true });
  };
  if (!rows) return error ? <Failure error={error} retry={refetch} /> : <Loading />;
  return (
    <PageFrame title={servers.title}>
      {rows.length === 0 ? (
        <Empty title={servers.none}>{servers.noneHelp}</Empty>
      ) : (
        <>
          <ListFields view={view} tags={tags} onSearch={setTyped} show={show} />
          <Muted>
            <span role="status">{servers.shown(shown.length, rows.length)}</span>
          </Muted>
          {shown.length === 0 ? (
            <Empty
              title={servers.noMatch}
              action={
                <Button onPress={() => show({ search: "", filter: "all", tag: "" })}>{servers.clear}</Button>
              }
            />
          ) : (
            <VirtualTable label={servers.title} columns={columns} rows={shown} keyOf={nameOf} />
          )}
        </>
      )}
    </PageFrame>
  );
}

type ListFieldsProps = {
  view: ListView;
  /** Those that servers of the list have. */
  tags: readonly string[];
  onSearch: (search: string) => void;
  show: (change: Partial<ListView>) => void;
};

function ListFields({ view, tags, onSearch, show }: ListFieldsProps) {
  const { servers } = useWords();
  // The address may name one that no server has any more.
  const offered = view.tag === "" || tags.includes(view.tag) ? tags : [view.tag, ...tags];
  return (
    <Row isSpread isLow>
      <Grow>
        <Field
          label={servers.search}
          name="search"
          type="search"
          inputMode="search"
          value={view.search}
          onChange={onSearch}
        />
      </Grow>
      <Row>
        <Select
          label={servers.filter}
          value={view.filter}
          onChange={(next) => show({ filter: next })}
          options={filters.map((name) => [name, servers.filters[name]])}
        />
        {offered.length > 0 && (
          <Select
            label={servers.tag}
            value={view.tag}
            onChange={(next) => show({ tag: next })}
            options={[["", servers.allTags], ...offered.map((name) => [name, visible(name)] as const)]}
          />
        )}
        <Select
          label={servers.sort}
          value={view.sort}
          onChange={(next) => show({ sort: next })}
          options={sorts.map((name) => [name, servers.sorts[name]])}
        />
      </Row>
    </Row>
  );
}
