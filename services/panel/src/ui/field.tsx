import { type ReactNode, useId } from "react";
import { FieldError, Input, Label, Text, TextField } from "react-aria-components";
import { classes } from "./css.ts";
import styles from "./field.module.css";

type FieldProps = {
  label: string;
  name: string;
  value: string;
  onChange: (value: string) => void;
  type?: "text" | "email" | "password" | "search" | "date" | "time" | "datetime-local";
  /** Says what is meant, below the field. */
  description?: ReactNode;
  /** What is wrong with the value; the field then counts as invalid. */
  error?: string | undefined;
  autoComplete?: string;
  inputMode?: "text" | "numeric" | "email" | "search";
  isRequired?: boolean;
  isDisabled?: boolean;
  autoFocus?: boolean;
  maxLength?: number;
  /** Wide letters for a code that is copied from somewhere. */
  isCode?: boolean;
  placeholder?: string;
  /** Offered while somebody types; other values can be typed too. */
  suggestions?: readonly string[];
};

/** One line of text with its label, description and fault. */
export function Field(props: FieldProps) {
  const { label, description, error, autoComplete, inputMode, isCode, placeholder, maxLength, ...rest } =
    props;
  const { suggestions, ...field } = rest;
  const listId = useId();
  return (
    <TextField {...field} className={styles.field} isInvalid={error !== undefined} validationBehavior="aria">
      <Label className={styles.label}>{label}</Label>
      <Input
        className={classes(styles.input, isCode && styles.code)}
        autoComplete={autoComplete ?? "off"}
        autoCapitalize="none"
        autoCorrect="off"
        spellCheck={false}
        {...(inputMode && { inputMode })}
        {...(placeholder !== undefined && { placeholder })}
        {...(maxLength !== undefined && { maxLength })}
        {...(suggestions && { list: listId })}
      />
      {suggestions && (
        <datalist id={listId}>
          {suggestions.map((suggestion) => (
            <option key={suggestion} value={suggestion} />
          ))}
        </datalist>
      )}
      {description !== undefined && (
        <Text slot="description" className={styles.description}>
          {description}
        </Text>
      )}
      <FieldError className={styles.error}>{error}</FieldError>
    </TextField>
  );
}
