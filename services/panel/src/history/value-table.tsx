import { useLanguage, useWords } from "../words/words.ts";
import styles from "./chart.module.css";
import type { Span, Values } from "./chart.ts";

type Column = { name: string; values: Values; format: (value: number) => string };

/** The values behind charts, the newest first; steps about which nothing is known are left out. */
export function ValueTable(props: { label: string; span: Span; columns: readonly Column[] }) {
  const { label, span, columns } = props;
  const { history } = useWords();
  const { language } = useLanguage();
  const steps = columns[0]?.values.length ?? 0;
  const time = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" });
  const known = Array.from({ length: steps }, (_, index) => steps - 1 - index).filter((index) =>
    columns.some(({ values }) => values[index] !== null),
  );
  if (known.length === 0) return <p>{history.none}</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
    <section className={styles.scroll} aria-label={label} tabIndex={0}>
      <table className={styles.table}>
        <thead>
          <tr>
            <th scope="col">{history.time}</th>
            {columns.map(({ name }) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {known.map((index) => (
            <tr key={index}>
              <th scope="row">{time.format(span.from + (index / steps) * (span.to - span.from))}</th>
              {columns.map(({ name, values, format }) => (
                <td key={name}>{values[index] == null ? "–" : format(values[index])}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
