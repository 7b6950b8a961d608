import { useId } from "react";
import styles from "./checkbox.module.css";

type CheckboxProps = { label: string; isChecked: boolean; onChange: (isChecked: boolean) => void };

/** A choice that is on or off. */
export function Checkbox({ label, isChecked, onChange }: CheckboxProps) {
  const id = useId();
  return (
    <label htmlFor={id} className={styles.checkbox}>
      <input
        id={id}
        type="checkbox"
        checked={isChecked}
        onChange={(event) => onChange(event.target.checked)}
      />
      {label}
    </label>
  );
}
