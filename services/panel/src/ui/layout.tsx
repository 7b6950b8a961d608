import type { ReactNode } from "react";
import { visible } from "../words/visible.ts";
import { classes } from "./css.ts";
import styles from "./layout.module.css";

type Children = { children: ReactNode };

/** Things below each other. */
export function Stack({ children, isTight = false }: Children & { isTight?: boolean }) {
  return <div className={classes(styles.stack, isTight && styles.tight)}>{children}</div>;
}

type RowProps = Children & {
  /** The first at the one end, the last at the other. */
  isSpread?: boolean;
  /** Buttons stand at the height of fields, below their labels. */
  isLow?: boolean;
};

/** Things beside each other, as far as there is room. */
export function Row({ children, isSpread = false, isLow = false }: RowProps) {
  return (
    <div className={classes(styles.row, isSpread && styles.spread, isLow && styles.low)}>{children}</div>
  );
}

/** A field that takes the room that a row has. */
export function Grow({ children }: Children) {
  return <div className={styles.grows}>{children}</div>;
}

/** A field in a wide place: no wider than what is typed in it. */
export function Limited({ children }: Children) {
  return <div className={styles.limited}>{children}</div>;
}

/** The main thing, and what stands beside it where there is room. */
export function Split({ children, aside }: Children & { aside: ReactNode }) {
  return (
    <div className={styles.split}>
      {children}
      <Stack>{aside}</Stack>
    </div>
  );
}

/** Figures in one row, also on a phone. */
export function Figures({ children }: Children) {
  return <div className={styles.figures}>{children}</div>;
}

type FigureProps = {
  name: string;
  value: string;
  /** What the number means, or whom it counts. */
  hint?: ReactNode;
  icon?: ReactNode;
  look?: "good" | "bad";
};

/** One number that says how it stands. */
export function Figure({ name, value, hint, icon, look }: FigureProps) {
  return (
    <div className={classes(styles.card, styles.tile)}>
      <p className={styles.name}>
        {icon}
        {name}
      </p>
      <p className={classes(styles.figure, look && styles[look])}>{value}</p>
      {hint !== undefined && <div className={styles.hint}>{hint}</div>}
    </div>
  );
}

/** Short words beside each other, such as names of players. */
export function Chips({ label, of }: { label: string; of: readonly string[] }) {
  return (
    <ul className={styles.chips} aria-label={label}>
      {of.map((name) => (
        <li key={name}>
          <bdi>{visible(name)}</bdi>
        </li>
      ))}
    </ul>
  );
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

/** Cards beside each other; `isWide` for two, which hold lists or forms. */
export function Columns({ children, isWide = false }: Children & { isWide?: boolean }) {
  return <div className={classes(styles.columns, isWide && styles.wide)}>{children}</div>;
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
