import { Field } from "../ui/field.tsx";
import { gameCode, mailedCode } from "./code.ts";

type CodeFieldProps = {
  label: string;
  name: string;
  value: string;
  onChange: (code: string) => void;
  isRequired?: boolean;
  autoFocus?: boolean;
};

/** The six digits of a mail. */
export function MailedCodeField({ onChange, ...field }: CodeFieldProps) {
  return (
    <Field
      {...field}
      onChange={(typed) => onChange(mailedCode(typed))}
      autoComplete="one-time-code"
      inputMode="numeric"
      isCode
    />
  );
}

/** The eight characters that the game or a command line shows. */
export function GameCodeField({ onChange, ...field }: CodeFieldProps) {
  return <Field {...field} onChange={(typed) => onChange(gameCode(typed))} isCode />;
}
