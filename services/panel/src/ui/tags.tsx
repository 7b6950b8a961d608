import type { ServerTag } from "@svc/proto";
import { visible } from "../words/visible.ts";
import { classes } from "./css.ts";
import { Link } from "./link.tsx";
import styles from "./tags.module.css";

/** Those that a tag may have, in the order in which they are offered. */
export const tagColours = ["grey", "blue", "green", "amber", "red", "violet"] as const;

type TagsProps = {
  label: string;
  of: readonly ServerTag[];
  /** In a row of a list, which is of one height. */
  isLine?: boolean;
};

/** Tags in their colours; each leads to the servers that have it. */
export function Tags({ label, of, isLine = false }: TagsProps) {
  return (
    <ul className={classes(styles.tags, isLine && styles.line)} aria-label={label}>
      {of.map(({ name, colour }) => (
        <li key={name}>
          <Link to="/servers" search={{ tag: name }} className={classes(styles.tag, styles[colour])}>
            <bdi>{visible(name)}</bdi>
          </Link>
        </li>
      ))}
    </ul>
  );
}
