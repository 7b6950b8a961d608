import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { type CSSProperties, type ReactNode, useEffect, useLayoutEffect, useRef, useState } from "react";
import { classes } from "./css.ts";
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
  columns: readonly Column<Row>[];
  /** A row that is not there yet keeps its place. */
  rows: readonly (Row | undefined)[];
  keyOf: (row: Row) => string;
  /** Called with the first and the last row that are drawn, to read what is missing. */
  onShow?: (first: number, last: number) => void;
  /** Height of a row, on a desk and on a phone. */
  rowPx?: { wide: number; narrow: number };
};

const usualRowPx = { wide: 52, narrow: 112 } as const;

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
  const height = isNarrow ? rowPx.narrow : rowPx.wide;
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => height,
    overscan: 10,
    scrollMargin,
    getItemKey: (at) => {
      const row = rows[at];
      return row === undefined ? at : keyOf(row);
    },
  });
  const drawn = virtual.getVirtualItems();
  const [first, last] = [drawn[0]?.index, drawn.at(-1)?.index];
  useEffect(() => {
    if (first !== undefined && last !== undefined) onShow?.(first, last);
  }, [onShow, first, last]);
  const tracks = { "--tracks": columns.map(({ width }) => width).join(" ") } as CSSProperties;
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
          <div
            key={key}
            role="row"
            aria-rowindex={index + 2}
            className={styles.row}
            style={{
              ...tracks,
              height,
              transform: `translateY(${start - scrollMargin}px)`,
            }}
          >
            {columns.map(({ key: column, title, cell }, at) => (
              <div
                key={column}
                role="cell"
                className={classes(styles.cell, at === columns.length - 1 && styles.last)}
                data-label={title}
              >
                {cellOf(rows[index], cell, at === 0)}
              </div>
            ))}
          </div>
        ))}
      </div>
    </div>
  );
}

function cellOf<Row>(row: Row | undefined, cell: (row: Row) => ReactNode, isFirst: boolean): ReactNode {
  if (row !== undefined) return cell(row);
  return isFirst ? <span aria-hidden>…</span> : null;
}
