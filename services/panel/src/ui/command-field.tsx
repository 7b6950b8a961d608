import { type KeyboardEvent, type ReactNode, useId, useRef, useState } from "react";
import { visible } from "../words/visible.ts";
import styles from "./command-field.module.css";
import { classes } from "./css.ts";
import field from "./field.module.css";

type CommandFieldProps = {
  label: string;
  value: string;
  onChange: (value: string) => void;
  /** The arrow keys: up is -1. */
  onStep: (by: -1 | 1) => void;
  /** Whole lines; Tab takes the first. */
  suggestions: readonly string[];
  /** Names the suggestions and says what Tab does. */
  suggestionsLabel: string;
  /** What the keys do, while nothing is suggested. */
  hint: string;
  /** The button that sends the line. */
  children: ReactNode;
};

/**
 * A line that is typed to a program: monospace, completed by Tab, and earlier lines on the arrow keys. Whoever draws it keeps what
 * was typed beyond the page.
 */
export function CommandField(props: CommandFieldProps) {
  const { label, value, onChange, onStep, suggestions, suggestionsLabel, hint, children } = props;
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  /** Escape closes the suggestions of a line, and Tab leads on again. */
  const [closedFor, setClosedFor] = useState<string>();
  const offered = closedFor === value ? [] : suggestions;
  const take = (line: string) => {
    onChange(line);
    input.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const { key, shiftKey } = event;
    const [first] = offered;
    if (key === "ArrowUp" || key === "ArrowDown") onStep(key === "ArrowUp" ? -1 : 1);
    else if (key === "Tab" && !shiftKey && first !== undefined) take(first);
    else if (key === "Escape" && first !== undefined) setClosedFor(value);
    else return;
    event.preventDefault();
  };
  return (
    <div className={field.field}>
      <label htmlFor={id} className={field.label}>
        {label}
      </label>
      <div className={styles.line}>
        <input
          ref={input}
          id={id}
          className={classes(field.input, field.command)}
          data-kept
          value={value}
          onChange={(event) => onChange(event.target.value)}
          onKeyDown={onKeyDown}
          autoComplete="off"
          autoCapitalize="none"
          autoCorrect="off"
          spellCheck={false}
          enterKeyHint="send"
          maxLength={1_024}
          aria-describedby={`${id}-about`}
        />
        {children}
      </div>
      <div id={`${id}-about`} className={styles.about}>
        <span className={styles.words}>{offered.length > 0 ? suggestionsLabel : hint}</span>
        {offered.map((line) => (
          // Reached by Tab alone, which takes the first one.
          <button
            key={line}
            type="button"
            tabIndex={-1}
            className={styles.suggestion}
            onClick={() => take(line)}
          >
            <bdi>{visible(line)}</bdi>
          </button>
        ))}
      </div>
    </div>
  );
}
