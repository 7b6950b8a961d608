import { Check, Copy } from "lucide-react";
import { useState } from "react";
import { useFirstWords } from "../words/words.ts";
import { Button } from "./button.tsx";

const shownMs = 2_000;

/** Copies a text; `what` names it for readers. A long text may be made when it is wanted. */
export function CopyButton({ text, what }: { text: string | (() => string); what: string }) {
  const { shell } = useFirstWords();
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(typeof text === "string" ? text : text());
    setCopied(true);
    setTimeout(() => setCopied(false), shownMs);
  };
  return (
    <Button
      kind="quiet"
      label={isCopied ? shell.copied : shell.copy(what)}
      icon={isCopied ? <Check size={16} aria-hidden /> : <Copy size={16} aria-hidden />}
      onPress={() => void copy()}
    >
      {null}
    </Button>
  );
}
