import type { ReactNode } from "react";
import { classes } from "./css.ts";
import styles from "./layout.module.css";

type Children = { children: ReactNode };

/** Things below each other. */
export function Stack({ children, isTight = false }: Children & { isTight?: boolean }) {
  return <div className={classes(styles.stack, isTight && styles.tight)}>{children}</div>;
}

/** Things beside each other, as far as there is room. */
export function Row({ children, isSpread = false }: Children & { isSpread?: boolean }) {
  return <div className={classes(styles.row, isSpread && styles.spread)}>{children}</div>;
}

/** A part of a page with a heading of its own. */
export function Card({ title, actions, children }: Children & { title?: ReactNode; actions?: ReactNode }) {
  return (
    <section className={classes(styles.card, styles.stack)}>
      {(title !== undefined || actions !== undefined) && (
        <Row isSpread>
          {title !== undefined && <h2>{title}</h2>}
          {actions}
        </Row>
      )}
      {children}
    </section>
  );
}

/** Cards beside each other. */
export function Columns({ children }: Children) {
  return <div className={styles.columns}>{children}</div>;
}

export function Muted({ children }: Children) {
  return <p className={styles.muted}>{children}</p>;
}

/** Names and values, such as the settings of a server. */
export function Facts({ rows }: { rows: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className={styles.facts}>
      {rows.map(([name, value]) => (
        <div key={name} className={styles.fact}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
