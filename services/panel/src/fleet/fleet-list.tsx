import { useNavigate, useSearch } from "@tanstack/react-router";
import { type KeyboardEvent, useMemo, useRef, useState } from "react";
import { columnsOf } from "../server/columns.tsx";
import type { ServerRow } from "../server/row.ts";
import { Button } from "../ui/button.tsx";
import { Checkbox } from "../ui/checkbox.tsx";
import { Empty } from "../ui/empty.tsx";
import { Failure } from "../ui/failure.tsx";
import { Muted, Row } from "../ui/layout.tsx";
import { Link } from "../ui/link.tsx";
import { Loading } from "../ui/loading.tsx";
import { Page as PageFrame } from "../ui/page.tsx";
import { useDebounced } from "../ui/use-debounced.ts";
import { useTypedSearch } from "../ui/use-typed-search.ts";
import { type Column, VirtualTable } from "../ui/virtual-table.tsx";
import { isolate } from "../words/format.ts";
import { useWords, type Words } from "../words/words.ts";
import { BulkBar } from "./bulk-bar.tsx";
import { BulkProgress } from "./bulk-progress.tsx";
import styles from "./fleet.module.css";
import { FleetFields } from "./fleet-fields.tsx";
import { addressOf, everything, type FleetView, fleetViewOf, narrowRows } from "./fleet-view.ts";
import { all, countOf, isSelected, namesBetween, nothing, type Selection, withNames } from "./selection.ts";
import { useFleet } from "./use-fleet.ts";

/** All servers of the platform: searched on the server, chosen by row, acted on together. */
export function FleetList() {
  const { servers } = useWords();
  const navigate = useNavigate();
  const address = fleetViewOf(useSearch({ strict: false }) as Record<string, unknown>);
  const go = (to: FleetView) => void navigate({ to: "/servers", search: addressOf(to), replace: true });
  const [typed, setTyped] = useTypedSearch(address.search, (search) => go({ ...address, search }));
  const view = { ...address, search: typed };
  const search = useDebounced(typed);
  const asked = { ...view, search };
  const fleet = useFleet(asked);
  const [selection, setSelection] = useState(nothing);
  const show = (change: Partial<FleetView>) => {
    // Other servers match now; what nobody sees must not be acted on.
    if (change.sort === undefined) setSelection(nothing);
    go({ ...view, ...change });
  };
  const onSearch = (text: string) => {
    setSelection(nothing);
    setTyped(text);
  };
  const create = (
    <Link to="/servers/new" looks="primary">
      {servers.create}
    </Link>
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
  return (
    <PageFrame title={servers.title} actions={create}>
      <BulkProgress />
      {(isSearched || !isEmpty) && <FleetFields view={view} onSearch={onSearch} show={show} />}
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
        <FleetTable rows={rows} onShow={fleet.onShow} selection={selection} onSelect={setSelection} />
      )}
      <BulkBar
        view={asked}
        selection={selection}
        count={countOf(selection, rows.length)}
        isOld={isOld}
        onDone={() => setSelection(nothing)}
      />
    </PageFrame>
  );
}

type TableProps = {
  rows: readonly (ServerRow | undefined)[];
  onShow: (first: number, last: number) => void;
  selection: Selection;
  onSelect: (selection: Selection) => void;
};

function FleetTable({ rows, onShow, selection, onSelect }: TableProps) {
  const words = useWords();
  const { fleet, servers } = words;
  const [anchor, setAnchor] = useState(0);
  const select = (row: ServerRow, isOn: boolean, withRange: boolean) => {
    const at = rows.indexOf(row);
    const names = withRange ? namesBetween(rows, anchor, at) : [row.name];
    setAnchor(at);
    onSelect(withNames(selection, names, isOn));
  };
  const newest = useRef(select);
  newest.current = select;
  const columns = useMemo(() => withBoxes(words, selection, newest), [words, selection]);
  const count = countOf(selection, rows.length);
  const onKeyDown = (event: KeyboardEvent) => {
    const moved = neighbourOf(event);
    if (!moved) return;
    event.preventDefault();
    moved.box.focus();
    const row = rows[moved.at];
    if (event.shiftKey && row && !row.system) select(row, true, false);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the arrow keys are beside what each box does itself
    <div onKeyDown={onKeyDown} className={styles.list}>
      <Row isSpread>
        <Checkbox
          label={fleet.selectAll(rows.length)}
          isChecked={count > 0 && count === rows.length}
          isPartly={count > 0 && count < rows.length}
          onChange={(isOn) => onSelect(isOn ? all : nothing)}
        />
        <Muted>
          <span role="status">{servers.shown(rows.length, rows.length)}</span>
        </Muted>
      </Row>
      <VirtualTable label={servers.title} columns={columns} rows={rows} keyOf={nameOf} onShow={onShow} />
    </div>
  );
}

const nameOf = ({ name }: ServerRow) => name;

type Select = (row: ServerRow, isOn: boolean, withRange: boolean) => void;

/** The columns with a box before each name. */
function withBoxes(
  words: Words,
  selection: Selection,
  select: { readonly current: Select },
): Column<ServerRow>[] {
  return columnsOf(words, true).map((column) => {
    if (column.key !== "name") return column;
    const cell = (row: ServerRow) => (
      <div className={styles.name}>
        <Checkbox
          hidesLabel
          label={words.fleet.select(isolate(row.displayName))}
          whyNot={row.system ? words.reasons.system : undefined}
          isChecked={!row.system && isSelected(selection, row.name)}
          onChange={(isOn, { nativeEvent }) => select.current(row, isOn, isShifted(nativeEvent))}
        />
        {column.cell(row)}
      </div>
    );
    return { ...column, cell };
  });
}

function isShifted(event: Event): boolean {
  return "shiftKey" in event && event.shiftKey === true;
}

/** The box of the row above or below the one that has the focus. */
function neighbourOf({ key, target }: KeyboardEvent): { box: HTMLElement; at: number } | undefined {
  const step = key === "ArrowDown" ? 1 : key === "ArrowUp" ? -1 : 0;
  if (step === 0 || !(target instanceof HTMLInputElement) || target.type !== "checkbox") return undefined;
  const index = Number(target.closest("[role=row]")?.getAttribute("aria-rowindex")) + step;
  const row = target.closest("[role=table]")?.querySelector(`[role=row][aria-rowindex="${index}"]`);
  const box = row?.querySelector<HTMLElement>("input[type=checkbox]");
  // The head is the first row.
  return box ? { box, at: index - 2 } : undefined;
}
