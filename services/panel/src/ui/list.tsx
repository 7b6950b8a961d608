import type { ReactNode } from "react";
import { classes } from "./css.ts";
import { Muted } from "./layout.tsx";
import styles from "./list.module.css";

/** Things of one kind below each other, each with what can be done to it. */
export function List({ label, children }: { label: string; children: ReactNode }) {
  return (
    <ul className={styles.list} aria-label={label}>
      {children}
    </ul>
  );
}

type ItemsProps<Item> = {
  label: string;
  items: readonly Item[];
  /** Stands there when there is none. */
  none: string;
  /** Draws one, with its key. */
  children: (item: Item) => ReactNode;
};

/** A list of them, or that there is none. */
export function Items<Item>({ label, items, none, children }: ItemsProps<Item>) {
  if (items.length === 0) return <Muted>{none}</Muted>;
  return <List label={label}>{items.map(children)}</List>;
}

type ListItemProps = {
  title: ReactNode;
  /** Below the title, in muted words. */
  details?: ReactNode;
  actions?: ReactNode;
  /** What unfolds over the whole width, so that the actions stay where they are. */
  below?: ReactNode;
  /** The title is one long word, such as the address of an image: on a phone the actions stand below it. */
  isLong?: boolean;
};

export function ListItem({ title, details, actions, below, isLong = false }: ListItemProps) {
  return (
    <li className={classes(styles.item, isLong && styles.long)}>
      <div className={styles.text}>
        <div className={styles.title}>{title}</div>
        {details !== undefined && <div className={styles.details}>{details}</div>}
      </div>
      {actions !== undefined && <div className={styles.actions}>{actions}</div>}
      {below !== undefined && <div className={styles.below}>{below}</div>}
    </li>
  );
}
