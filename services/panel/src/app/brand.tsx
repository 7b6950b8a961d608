import type { host } from "../api/hosts.ts";
import { useFirstWords } from "../words/words.ts";
import mark from "./icon.svg";
import styles from "./shell.module.css";

/** The mark, and on which host somebody is. */
export function Brand({ host: shown }: { host: typeof host }) {
  const { shell } = useFirstWords();
  return (
    <div className={styles.brand}>
      <img src={mark} alt="" className={styles.mark} />
      <span translate="no">svc</span>
      {shown === "operator" && <span className={styles.host}>{shell.operatorConsole}</span>}
    </div>
  );
}
