import { type KeyboardEvent, useId } from "react";
import { classes } from "./css.ts";
import styles from "./field.module.css";

type CommandFieldProps = {
  label: string;
  value: string;
  onChange: (value: string) => void;
  /** The arrow keys: up is -1. */
  onStep: (by: -1 | 1) => void;
  suggestions: readonly string[];
};

/** A line that is typed to a program: monospace, with suggestions, and earlier lines on the arrow keys. */
export function CommandField({ label, value, onChange, onStep, suggestions }: CommandFieldProps) {
  const id = useId();
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "ArrowUp" && event.key !== "ArrowDown") return;
    event.preventDefault();
    onStep(event.key === "ArrowUp" ? -1 : 1);
  };
  return (
    <div className={classes(styles.field, styles.grows)}>
      <label htmlFor={id} className={styles.label}>
        {label}
      </label>
      <input
        id={id}
        className={classes(styles.input, styles.command)}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={onKeyDown}
        list={`${id}-list`}
        autoComplete="off"
        autoCapitalize="none"
        autoCorrect="off"
        spellCheck={false}
        enterKeyHint="send"
        maxLength={1_024}
      />
      <datalist id={`${id}-list`}>
        {suggestions.map((suggestion) => (
          <option key={suggestion} value={suggestion} />
        ))}
      </datalist>
    </div>
  );
}
