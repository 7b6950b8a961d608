import type { ReactNode } from "react";
import { FieldError, Label, TextArea as Lines, Text, TextField } from "react-aria-components";
import { classes } from "./css.ts";
import styles from "./field.module.css";

type TextAreaProps = {
  label: string;
  name: string;
  value: string;
  onChange: (value: string) => void;
  description?: ReactNode;
  error?: string | undefined;
  rows?: number;
};

/** Several lines of text with their label, description and fault. */
export function TextArea({ label, description, error, rows = 2, ...field }: TextAreaProps) {
  return (
    <TextField {...field} className={styles.field} isInvalid={error !== undefined} validationBehavior="aria">
      <Label className={styles.label}>{label}</Label>
      <Lines
        className={classes(styles.input, styles.lines)}
        rows={rows}
        autoComplete="off"
        autoCapitalize="none"
        autoCorrect="off"
        spellCheck={false}
      />
      {description !== undefined && (
        <Text slot="description" className={styles.description}>
          {description}
        </Text>
      )}
      <FieldError className={styles.error}>{error}</FieldError>
    </TextField>
  );
}
