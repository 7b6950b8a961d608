import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback, useMemo } from "react";
import type { ServerRow } from "../server/row.ts";
import { Button } from "../ui/button.tsx";
import { Empty } from "../ui/empty.tsx";
import { Failure } from "../ui/failure.tsx";
import { Link } from "../ui/link.tsx";
import { Loading } from "../ui/loading.tsx";
import { Page as PageFrame } from "../ui/page.tsx";
import { useDebounced } from "../ui/use-debounced.ts";
import { useTypedSearch } from "../ui/use-typed-search.ts";
import { useWords } from "../words/words.ts";
import { BulkBar } from "./bulk-bar.tsx";
import { BulkProgress } from "./bulk-progress.tsx";
import { FleetFields } from "./fleet-fields.tsx";
import { addressOf, everything, type FleetView, fleetViewOf, narrowRows } from "./fleet-view.ts";
import { findsOfFleet, fleetViewOfFinds } from "./saved-filter.ts";
import { SavedFilters } from "./saved-filters.tsx";
import { countOf, nothing } from "./selection.ts";
import { ServerTable } from "./server-table.tsx";
import { readSelected, useFleet } from "./use-fleet.ts";
import { useSelection } from "./use-selection.ts";

/** All servers of the platform: searched on the server, chosen by row, acted on together. */
export function FleetList() {
  const { servers, reasons } = useWords();
  const navigate = useNavigate();
  const address = fleetViewOf(useSearch({ strict: false }) as Record<string, unknown>);
  // The rows of a search are there before the address follows: who has scrolled meanwhile stays there.
  const go = (to: FleetView) =>
    void navigate({ to: "/servers", search: addressOf(to), replace: true, resetScroll: false });
  const [typed, setTyped] = useTypedSearch(address.search, (search) => go({ ...address, search }));
  const view = { ...address, search: typed };
  const search = useDebounced(typed);
  const asked = { ...view, search };
  const fleet = useFleet(asked);
  const [selection, setSelection] = useSelection(JSON.stringify(addressOf({ ...view, sort: "name" })));
  const show = (change: Partial<FleetView>) => go({ ...view, ...change });
  const create = (
    <Link to="/servers/new" looks="primary">
      {servers.create}
    </Link>
  );
  const whyNotRow = useCallback(
    ({ system }: ServerRow) => (system ? reasons.system : undefined),
    [reasons.system],
  );
  const { error, refetch, answered } = fleet;
  // What is typed is not what was asked for yet.
  const isOld = fleet.isOld || search !== typed;
  const rows = useMemo(
    () => fleet.rows && narrowRows(fleet.rows, { typed, answered }),
    [fleet.rows, typed, answered],
  );
  if (!rows) return error ? <Failure error={error} retry={refetch} /> : <Loading />;
  const isSearched = Object.keys(addressOf({ ...asked, sort: "name" })).length > 0;
  const isEmpty = rows.length === 0 && !isOld;
  const count = countOf(selection, rows.length);
  return (
    <PageFrame title={servers.title} actions={create}>
      <BulkProgress />
      {(isSearched || !isEmpty) && <FleetFields view={view} onSearch={setTyped} show={show} />}
      <SavedFilters finds={findsOfFleet(asked)} onOpen={(saved) => go(fleetViewOfFinds(saved))} />
      {error && <Failure error={error} retry={refetch} />}
      {isEmpty && !isSearched && (
        <Empty title={servers.noneStaff} action={create}>
          {servers.noneStaffHelp}
        </Empty>
      )}
      {isEmpty && isSearched && (
        <Empty
          title={servers.noMatch}
          action={<Button onPress={() => show(everything)}>{servers.clear}</Button>}
        />
      )}
      {rows.length > 0 && (
        <ServerTable
          isStaff
          rows={rows}
          count={count}
          onShow={fleet.onShow}
          selection={selection}
          onSelect={setSelection}
          whyNotRow={whyNotRow}
        />
      )}
      <BulkBar
        count={count}
        readNames={() => readSelected(asked, selection)}
        isOld={isOld}
        onDone={() => setSelection(nothing)}
      />
    </PageFrame>
  );
}
