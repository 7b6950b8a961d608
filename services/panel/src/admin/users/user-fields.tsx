import type { ApiError } from "../../api/error.ts";
import { Failure } from "../../ui/failure.tsx";
import { Field } from "../../ui/field.tsx";
import { Select } from "../../ui/select.tsx";
import { faultWords } from "../../words/faults.ts";
import { useWords } from "../../words/words.ts";

export type UserFieldValues = { username: string; email: string; role: "admin" | "user" };

type UserFieldsProps = {
  values: UserFieldValues;
  onChange: (values: UserFieldValues) => void;
  /** Why the last try was refused. */
  error: ApiError | null;
  hasRole: boolean;
};

/** Name, address and role of a user, with what is wrong at the field it is about. */
export function UserFields({ values, onChange, error, hasRole }: UserFieldsProps) {
  const words = useWords();
  const { users, account } = words;
  const field = error && fieldOf(error);
  const text = (at: string) => (error && field === at ? textOf(error) : undefined);
  const textOf = (fault: ApiError) =>
    fault.code === "bad_request"
      ? users.fieldFaults[field === "email" ? "email" : "username"]
      : faultWords(words, fault);
  return (
    <>
      {error && field === undefined && <Failure error={error} />}
      <Field
        label={users.name}
        name="username"
        value={values.username}
        onChange={(username) => onChange({ ...values, username: username.trim() })}
        description={users.nameHelp}
        error={text("username")}
        maxLength={64}
        isRequired
        autoFocus
      />
      <Field
        label={users.email}
        name="email"
        type="email"
        inputMode="email"
        value={values.email}
        onChange={(email) => onChange({ ...values, email: email.trim() })}
        description={users.emailHelp}
        error={text("email")}
        maxLength={254}
      />
      {hasRole && (
        <Select
          label={users.role}
          value={values.role}
          onChange={(role) => onChange({ ...values, role })}
          options={(["user", "admin"] as const).map((role) => [role, account.roles[role]])}
        />
      )}
    </>
  );
}

/** Which field a refusal is about; the message of a bad request begins with its name. */
function fieldOf({ code, message }: ApiError): "username" | "email" | undefined {
  if (code === "username_taken") return "username";
  if (code !== "bad_request") return undefined;
  if (/\bemail\b/.test(message)) return "email";
  return /\busername\b/.test(message) ? "username" : undefined;
}
