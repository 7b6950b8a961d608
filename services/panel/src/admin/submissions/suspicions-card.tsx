import { useOperation } from "../../api/query.ts";
import { Card, Muted } from "../../ui/layout.tsx";
import { usePackWords } from "../../words/pack-words.ts";
import { visible } from "../../words/visible.ts";
import styles from "../packs.module.css";
import { findSuspicions } from "./suspicions.ts";

/** What in the Dockerfile deserves a second look. The file itself is below. */
export function Suspicions({ id }: { id: string }) {
  const { review } = usePackWords();
  const file = useOperation("submissions.readContextFile", { id, path: "Dockerfile" }, { isCostly: true });
  if (file.data?.text === undefined) return null;
  const suspicions = findSuspicions(file.data.text);
  return (
    <Card title={review.suspicions}>
      {suspicions.length === 0 ? (
        <Muted>{review.noSuspicions}</Muted>
      ) : (
        <ul className={styles.suspicions}>
          {suspicions.map(({ kind, line, text }) => (
            <li key={`${kind}-${line}`}>
              <strong>{review.suspicionKinds[kind]}</strong> · {review.line(line)}
              <div>
                <code className={styles.lines}>{visible(text)}</code>
              </div>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}
