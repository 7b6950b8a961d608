import type { ReactNode } from "react";

type FormProps = {
  onSubmit: () => void;
  children: ReactNode;
  /** Its button stands outside, such as at the foot of a dialog; browsers want one inside to submit several fields. */
  hasOuterButton?: boolean;
};

/** A form that Enter submits; nothing leaves the page. */
export function Form({ onSubmit, children, hasOuterButton = false }: FormProps) {
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
      {hasOuterButton && <button type="submit" hidden />}
    </form>
  );
}
