import type { ReactNode } from "react";
import { Form } from "../ui/form.tsx";
import { Stack } from "../ui/layout.tsx";
import { Notice } from "../ui/notice.tsx";

type StepFormProps = {
  onSubmit: () => void;
  problem: string | undefined;
  aside?: ReactNode;
  children: ReactNode;
};

/** One step: its fields and buttons, and above them what went wrong. */
export function StepForm({ onSubmit, problem, aside, children }: StepFormProps) {
  return (
    <Form onSubmit={onSubmit}>
      <Stack>
        {problem !== undefined && (
          <Notice kind="failed" isAlert actions={aside}>
            {problem}
          </Notice>
        )}
        {children}
      </Stack>
    </Form>
  );
}
