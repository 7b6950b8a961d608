import type { ReactNode } from "react";
import { Empty } from "../ui/empty.tsx";
import { useWords } from "../words/words.ts";
import type { Right } from "./presets.ts";
import { NotIncluded } from "./right-list.tsx";
import { useAccess } from "./use-access.ts";

type NeedsProps = {
  /** All of them. */
  rights: readonly Right[];
  children: ReactNode;
  /** What stands there for whoever has not all of them: nothing, a line with the reason, or a page that says it. */
  otherwise?: "nothing" | "line" | "page";
};

/** What only those see whose access includes some rights. */
export function Needs({ rights, children, otherwise = "line" }: NeedsProps) {
  const { sharing } = useWords();
  const { may } = useAccess();
  const missing = rights.filter((right) => !may(right));
  if (missing.length === 0) return children;
  if (otherwise === "nothing") return null;
  const what = missing.map((right) => sharing.rightWords[right]).join(" · ");
  if (otherwise === "line") return <NotIncluded what={what} />;
  return <Empty title={sharing.notIncluded(what)}>{sharing.askOwner}</Empty>;
}
