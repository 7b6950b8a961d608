import { type ReactNode, useState } from "react";
import type { ApiError } from "../api/error.ts";
import { Button } from "./button.tsx";
import { Confirm } from "./confirm.tsx";
import { Failure } from "./failure.tsx";

type AskingButtonProps = {
  /** What the button says; `label` names what it is done to, for readers. */
  word: string;
  label: string;
  /** The question, and the words of the button that answers it with yes. */
  title: string;
  action: string;
  /** The request that it makes. */
  request: { isPending: boolean; error: ApiError | null };
  onConfirm: () => void;
  /** What it costs and what stays. */
  children: ReactNode;
};

/** A button that asks before it acts, and says what failed. */
export function AskingButton({ word, label, request, children, ...question }: AskingButtonProps) {
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <Button label={label} isPending={request.isPending} onPress={() => setAsking(true)}>
        {word}
      </Button>
      <Failure error={request.error} />
      <Confirm {...question} isOpen={isAsking} onClose={() => setAsking(false)}>
        {children}
      </Confirm>
    </>
  );
}
