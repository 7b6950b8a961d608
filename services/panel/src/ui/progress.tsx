import styles from "./progress.module.css";

type ProgressProps = { label: string; value: number; max: number };

/** How far something is. */
export function Progress({ label, value, max }: ProgressProps) {
  const share = max === 0 ? 1 : Math.min(1, value / max);
  return (
    <div
      className={styles.track}
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.floor(share * 100)}
    >
      <div className={styles.bar} style={{ inlineSize: `${share * 100}%` }} />
    </div>
  );
}
