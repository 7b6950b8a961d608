import { type ReactNode, useEffect, useRef } from "react";

type FormProps = {
  onSubmit: () => void;
  children: ReactNode;
  /** Its button stands outside, such as at the foot of a dialog; browsers want one inside to submit several fields. */
  hasOuterButton?: boolean;
};

/** A form that Enter submits; nothing leaves the page. What is wrong with a field after that gets the focus. */
export function Form({ onSubmit, children, hasOuterButton = false }: FormProps) {
  const form = useRef<HTMLFormElement>(null);
  const isSubmitted = useRef(false);
  // The answer that names the field comes later, with any drawing.
  useEffect(() => {
    if (!isSubmitted.current) return;
    const wrong = form.current?.querySelector<HTMLElement>("[aria-invalid=true]");
    if (!wrong) return;
    isSubmitted.current = false;
    wrong.focus();
  });
  return (
    <form
      ref={form}
      noValidate
      onInput={() => {
        isSubmitted.current = false;
      }}
      onSubmit={(event) => {
        event.preventDefault();
        isSubmitted.current = true;
        onSubmit();
      }}
    >
      {children}
      {hasOuterButton && <button type="submit" hidden />}
    </form>
  );
}
