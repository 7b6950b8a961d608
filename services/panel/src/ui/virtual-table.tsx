import { useWindowVirtualizer } from "@tanstack/react-virtual";
import {
  type CSSProperties,
  memo,
  type ReactNode,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { classes } from "./css.ts";
import { type RowHeight, useRowPx } from "./density.ts";
import { useIsNarrow } from "./media.ts";
import styles from "./virtual-table.module.css";

export type Column<Row> = {
  key: string;
  title: string;
  /** A track of a grid, such as `minmax(0, 2fr)`. */
  width: string;
  cell: (row: Row) => ReactNode;
};

type VirtualTableProps<Row> = {
  label: string;
  /** The same array as long as they draw the same: rows are drawn again when it changes. */
  columns: readonly Column<Row>[];
  /** A row that is not there yet keeps its place. */
  rows: readonly (Row | undefined)[];
  /** The same function each time. */
  keyOf: (row: Row) => string;
  /** Called with the first and the last row that are drawn, to read what is missing. */
  onShow?: (first: number, last: number) => void;
  /** Height of a row, on a desk and on a phone. */
  rowPx?: { wide: RowHeight; narrow: RowHeight };
};

const usualRowPx = {
  wide: { comfortable: 52, compact: 42 },
  narrow: { comfortable: 112, compact: 100 },
} as const;

/** A table that draws only the rows in sight; below 720 px each row becomes a small labelled card. */
export function VirtualTable<Row>({
  label,
  columns,
  rows,
  keyOf,
  onShow,
  rowPx = usualRowPx,
}: VirtualTableProps<Row>) {
  const body = useRef<HTMLDivElement>(null);
  const isNarrow = useIsNarrow();
  const [scrollMargin, setScrollMargin] = useState(0);
  // What stands above the table comes and goes.
  useLayoutEffect(() => setScrollMargin(body.current?.offsetTop ?? 0));
  const height = useRowPx(isNarrow ? rowPx.narrow : rowPx.wide);
  const getItemKey = useCallback(
    (at: number) => {
      const row = rows[at];
      return row === undefined ? at : keyOf(row);
    },
    [rows, keyOf],
  );
  const estimateSize = useCallback(() => height, [height]);
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize,
    overscan: 10,
    scrollMargin,
    getItemKey,
  });
  // Sizes that were known stay known otherwise.
  useLayoutEffect(() => void (height && virtual.measure()), [virtual, height]);
  const drawn = virtual.getVirtualItems();
  const [first, last] = [drawn[0]?.index, drawn.at(-1)?.index];
  useEffect(() => {
    if (first !== undefined && last !== undefined) onShow?.(first, last);
  }, [onShow, first, last]);
  const tracks = useMemo(
    () => ({ "--tracks": columns.map(({ width }) => width).join(" ") }) as CSSProperties,
    [columns],
  );
  return (
    <div className={styles.table} role="table" aria-label={label} aria-rowcount={rows.length + 1}>
      <div className={styles.head} role="row" aria-rowindex={1} style={tracks}>
        {columns.map(({ key, title }) => (
          <div key={key} role="columnheader">
            {title}
          </div>
        ))}
      </div>
      <div ref={body} className={styles.body} role="rowgroup" style={{ height: rows.length * height }}>
        {drawn.map(({ index, key, start }) => (
          <TableRow
            key={key}
            index={index}
            row={rows[index]}
            columns={columns}
            tracks={tracks}
            height={height}
            top={start - scrollMargin}
          />
        ))}
      </div>
    </div>
  );
}

type TableRowProps<Row> = {
  index: number;
  row: Row | undefined;
  columns: readonly Column<Row>[];
  tracks: CSSProperties;
  height: number;
  top: number;
};

/** Drawn again only when something about the row has changed: a key that is typed in a search leaves what it finds alone. */
const TableRow = memo(DrawnRow) as typeof DrawnRow;

function DrawnRow<Row>({ index, row, columns, tracks, height, top }: TableRowProps<Row>) {
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      className={styles.row}
      style={{ ...tracks, height, transform: `translateY(${top}px)` }}
    >
      {columns.map(({ key, title, cell }, at) => (
        <div
          key={key}
          role="cell"
          className={classes(styles.cell, at === columns.length - 1 && styles.last)}
          data-label={title}
        >
          {cellOf(row, cell, at === 0)}
        </div>
      ))}
    </div>
  );
}

function cellOf<Row>(row: Row | undefined, cell: (row: Row) => ReactNode, isFirst: boolean): ReactNode {
  if (row !== undefined) return cell(row);
  return isFirst ? <span aria-hidden>…</span> : null;
}
