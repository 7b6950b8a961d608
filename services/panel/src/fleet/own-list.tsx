import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback, useDeferredValue, useMemo } from "react";
import { CreateLink } from "../create/create-link.tsx";
import {
  addressOf,
  filters,
  type ListView,
  listViewOf,
  type ServerRow,
  selectRows,
  sorts,
  tagNamesOf,
} from "../server/row.ts";
import { useOwnServers } from "../server/use-servers.ts";
import { Button } from "../ui/button.tsx";
import { Empty } from "../ui/empty.tsx";
import { Failure } from "../ui/failure.tsx";
import { Loading } from "../ui/loading.tsx";
import { Page as PageFrame } from "../ui/page.tsx";
import { Select } from "../ui/select.tsx";
import { useTypedSearch } from "../ui/use-typed-search.ts";
import { visible } from "../words/visible.ts";
import { useWords } from "../words/words.ts";
import { BulkBar } from "./bulk-bar.tsx";
import { BulkProgress } from "./bulk-progress.tsx";
import { ListSearch } from "./list-search.tsx";
import { type Finds, findsOfList, listViewOfFinds } from "./saved-filter.ts";
import { SavedFilters } from "./saved-filters.tsx";
import { isSelected, nothing } from "./selection.ts";
import { ServerTable } from "./server-table.tsx";
import { useSelection } from "./use-selection.ts";

/** What the address says about the list, and the way to change it. */
function useListView() {
  const navigate = useNavigate();
  const address = listViewOf(useSearch({ strict: false }) as Record<string, unknown>);
  const [typed, setTyped] = useTypedSearch(address.search, (search) => show({ search }));
  const view = { ...address, search: typed };
  const show = (change: Partial<ListView>) =>
    void navigate({
      to: "/servers",
      search: addressOf({ ...view, ...change }),
      replace: true,
      // The rows are there before the address follows: who has scrolled meanwhile stays there.
      resetScroll: false,
    });
  return { view, setTyped, show };
}

/** The servers that the person owns or may claim. */
export function OwnList() {
  const { servers, reasons } = useWords();
  const { view, setTyped, show } = useListView();
  const { filter, sort, tag } = view;
  const search = useDeferredValue(view.search);
  const { rows, error, refetch } = useOwnServers();
  const [selection, setSelection] = useSelection(JSON.stringify([view.search, filter, tag]));
  const shown = useMemo(
    () => selectRows(rows ?? [], { search, filter, sort, tag }),
    [rows, search, filter, sort, tag],
  );
  const tags = useMemo(() => tagNamesOf(rows ?? []), [rows]);
  const whyNotRow = useCallback(
    (row: ServerRow) => (row.isMine || row.isShared ? undefined : reasons.notYours),
    [reasons.notYours],
  );
  const mine = shown.filter((row) => whyNotRow(row) === undefined);
  const chosen = mine.filter(({ name }) => isSelected(selection, name));
  const open = (finds: Finds) => {
    const found = listViewOfFinds(finds);
    if (found) show(found);
  };
  if (!rows) return error ? <Failure error={error} retry={refetch} /> : <Loading />;
  return (
    <PageFrame title={servers.title} actions={<CreateLink />}>
      <BulkProgress />
      {rows.length === 0 ? (
        <Empty title={servers.none}>{servers.noneHelp}</Empty>
      ) : (
        <ListFields view={view} tags={tags} onSearch={setTyped} show={show} />
      )}
      {rows.length > 0 && <SavedFilters finds={findsOfList(view)} isShown={isShown} onOpen={open} />}
      {rows.length > 0 && shown.length === 0 && (
        <Empty
          title={servers.noMatch}
          action={
            <Button onPress={() => show({ search: "", filter: "all", tag: "" })}>{servers.clear}</Button>
          }
        />
      )}
      {shown.length > 0 && (
        <ServerTable
          rows={shown}
          total={rows.length}
          most={mine.length}
          count={chosen.length}
          selection={selection}
          onSelect={setSelection}
          whyNotRow={whyNotRow}
        />
      )}
      <BulkBar
        count={chosen.length}
        readNames={() => Promise.resolve(chosen.map(({ name }) => name))}
        onDone={() => setSelection(nothing)}
      />
    </PageFrame>
  );
}

const isShown = (finds: Finds) => listViewOfFinds(finds) !== undefined;

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
    <ListSearch value={view.search} onChange={onSearch}>
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
    </ListSearch>
  );
}
