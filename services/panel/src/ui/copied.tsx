import { visible } from "../words/visible.ts";
import styles from "./copied.module.css";
import { CopyButton } from "./copy-button.tsx";

/** An id, a digest or the like with the button that copies all of it; `shown` is a shorter form. */
export function Copied({ text, what, shown = text }: { text: string; what: string; shown?: string }) {
  return (
    <span className={styles.copied}>
      <code title={text}>{visible(shown)}</code>
      <CopyButton text={text} what={what} />
    </span>
  );
}
