import { Status, type StatusLook } from "./status.tsx";
import styles from "./steps.module.css";

export type StepState = "done" | "running" | "failed" | "waiting";
export type Step = { key: string; title: string; state: StepState; word: string };

const looks: Record<StepState, StatusLook> = {
  done: "running",
  running: "starting",
  failed: "failed",
  waiting: "unknown",
};

/** Something that takes several steps, and how far it is. */
export function Steps({ label, steps }: { label: string; steps: readonly Step[] }) {
  return (
    <ol className={styles.steps} aria-label={label}>
      {steps.map(({ key, title, state, word }) => (
        <li key={key} className={styles.step} {...(state === "running" && { "aria-current": "step" })}>
          <span>{title}</span>
          <Status look={looks[state]} word={word} />
        </li>
      ))}
    </ol>
  );
}
