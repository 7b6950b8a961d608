import styles from "./switch.module.css";

type SwitchProps = {
  /** What is on or off, for readers: the switch stands in the row of what it is about. */
  label: string;
  isOn: boolean;
  onChange: (isOn: boolean) => void;
  isDisabled?: boolean;
};

/** Something that is on or off and changes at once. */
export function Switch({ label, isOn, onChange, isDisabled = false }: SwitchProps) {
  return (
    <input
      type="checkbox"
      role="switch"
      className={styles.switch}
      aria-label={label}
      aria-checked={isOn}
      checked={isOn}
      disabled={isDisabled}
      onChange={(event) => onChange(event.target.checked)}
    />
  );
}
