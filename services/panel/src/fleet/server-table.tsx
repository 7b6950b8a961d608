import { type KeyboardEvent, memo, useDeferredValue, useMemo, useRef, useState } from "react";
import { columnsOf } from "../server/columns.tsx";
import type { ServerRow } from "../server/row.ts";
import { Checkbox } from "../ui/checkbox.tsx";
import { Muted, Row } from "../ui/layout.tsx";
import { type Column, VirtualTable } from "../ui/virtual-table.tsx";
import { isolate } from "../words/format.ts";
import { useWords, type Words } from "../words/words.ts";
import styles from "./fleet.module.css";
import { all, isSelected, namesBetween, nothing, type Selection, withNames } from "./selection.ts";

type TableProps = {
  isStaff?: boolean;
  rows: readonly (ServerRow | undefined)[];
  /** How many there are with those that do not match. */
  total?: number;
  /** How many can be chosen. */
  most?: number;
  /** How many of them are chosen. */
  count: number;
  onShow?: (first: number, last: number) => void;
  selection: Selection;
  onSelect: (selection: Selection) => void;
  /** Why a row cannot be chosen; the same function each time. */
  whyNotRow: (row: ServerRow) => string | undefined;
};

/**
 * A list of servers with a box before each name; arrow keys go from box to box, with Shift they choose on the way. Rows are drawn
 * after what is typed meanwhile: hundreds may come at any moment.
 */
export function ServerTable({ rows, ...others }: TableProps) {
  return <DrawnTable {...others} rows={useDeferredValue(rows)} />;
}

const DrawnTable = memo((props: TableProps) => {
  const {
    isStaff = false,
    rows,
    total = rows.length,
    most = rows.length,
    count,
    onShow,
    selection,
    onSelect,
    whyNotRow,
  } = props;
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
  const columns = useMemo(
    () => withBoxes({ words, isStaff, whyNotRow }, selection, newest),
    [words, isStaff, whyNotRow, selection],
  );
  const onKeyDown = (event: KeyboardEvent) => {
    const moved = neighbourOf(event);
    if (!moved) return;
    event.preventDefault();
    moved.box.focus();
    const row = rows[moved.at];
    if (event.shiftKey && row && whyNotRow(row) === undefined) select(row, true, false);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the arrow keys are beside what each box does itself
    <div onKeyDown={onKeyDown} className={styles.list}>
      <Row isSpread>
        <Checkbox
          label={fleet.selectAll(most)}
          isChecked={count > 0 && count === most}
          isPartly={count > 0 && count < most}
          onChange={(isOn) => onSelect(isOn ? all : nothing)}
        />
        <Muted>
          <span role="status">{servers.shown(rows.length, total)}</span>
        </Muted>
      </Row>
      <VirtualTable
        label={servers.title}
        columns={columns}
        rows={rows}
        keyOf={nameOf}
        {...(onShow && { onShow })}
      />
    </div>
  );
});

const nameOf = ({ name }: ServerRow) => name;

type About = { words: Words; isStaff: boolean; whyNotRow: TableProps["whyNotRow"] };
type Select = (row: ServerRow, isOn: boolean, withRange: boolean) => void;

/** The columns with a box before each name. */
function withBoxes(
  { words, isStaff, whyNotRow }: About,
  selection: Selection,
  select: { readonly current: Select },
): Column<ServerRow>[] {
  return columnsOf(words, isStaff).map((column) => {
    if (column.key !== "name") return column;
    const cell = (row: ServerRow) => (
      <div className={styles.name}>
        <Checkbox
          hidesLabel
          label={words.fleet.select(isolate(row.displayName))}
          whyNot={whyNotRow(row)}
          isChecked={whyNotRow(row) === undefined && isSelected(selection, row.name)}
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
