import { useEffect } from "react";
import { useFirstWords } from "../words/words.ts";
import styles from "./loading.module.css";

/** Stands for a page or a part whose first data is on its way; seen only after 150 ms. */
export function Loading() {
  const { shell } = useFirstWords();
  useEffect(() => {
    const main = document.querySelector("main");
    main?.setAttribute("aria-busy", "true");
    return () => main?.setAttribute("aria-busy", "false");
  }, []);
  return (
    <div className={styles.skeleton} role="progressbar" aria-label={shell.loading}>
      <div className={styles.bar} />
      <div className={styles.bar} />
      <div className={styles.bar} />
    </div>
  );
}
