import { useId } from "react";
import { classes } from "./css.ts";
import field from "./field.module.css";
import styles from "./select.module.css";

type SelectProps<Value extends string> = {
  label: string;
  value: Value;
  onChange: (value: Value) => void;
  options: readonly (readonly [value: Value, word: string])[];
  /** The label stands beside it, not above. */
  isInline?: boolean;
  /** Says what is meant, below the list. */
  description?: string;
  /** What is wrong with the choice. */
  error?: string | undefined;
};

/** One of a few; the browser's own list works everywhere, by keyboard and by touch. */
export function Select<Value extends string>(props: SelectProps<Value>) {
  const { label, value, onChange, options, isInline = false, description, error } = props;
  const id = useId();
  const about = error ?? description;
  return (
    <div className={isInline ? styles.inline : styles.field}>
      <label htmlFor={id} className={classes(!isInline && styles.label)}>
        {label}
      </label>
      <select
        id={id}
        className={styles.select}
        value={value}
        onChange={(event) => onChange(event.target.value as Value)}
        {...(about !== undefined && { "aria-describedby": `${id}-about` })}
        {...(error !== undefined && { "aria-invalid": true })}
      >
        {options.map(([option, word]) => (
          <option key={option} value={option}>
            {word}
          </option>
        ))}
      </select>
      {about !== undefined && (
        <div id={`${id}-about`} className={error === undefined ? field.description : field.error}>
          {about}
        </div>
      )}
    </div>
  );
}
