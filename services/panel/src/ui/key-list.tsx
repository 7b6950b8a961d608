import styles from "./key-list.module.css";

/** Keys and what they do; keys of one row are pressed together. */
export function KeyList({ rows }: { rows: readonly (readonly [keys: readonly string[], word: string])[] }) {
  return (
    <dl className={styles.list}>
      {rows.map(([keys, word]) => (
        <div key={word} className={styles.row}>
          <dt>{word}</dt>
          <dd>
            {keys.map((key) => (
              <kbd key={key} className={styles.key}>
                {key}
              </kbd>
            ))}
          </dd>
        </div>
      ))}
    </dl>
  );
}
