import type { ReactNode } from "react";
import styles from "./table.module.css";

export type TableColumn<Row> = { key: string; title: string; cell: (row: Row) => ReactNode };

type TableProps<Row> = {
  label: string;
  columns: readonly TableColumn<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
};

/** A table of rows that may be higher than a line; on a phone each row becomes a labelled list. */
export function Table<Row>({ label, columns, rows, keyOf }: TableProps<Row>) {
  return (
    <table className={styles.table} aria-label={label}>
      <thead>
        <tr>
          {columns.map(({ key, title }) => (
            <th key={key} scope="col">
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)}>
            {columns.map(({ key, title, cell }) => (
              <td key={key}>
                <span className={styles.label} aria-hidden="true">
                  {title}
                </span>
                <div className={styles.value}>{cell(row)}</div>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
