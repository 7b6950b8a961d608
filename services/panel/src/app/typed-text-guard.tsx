import type { ShouldBlockFn } from "@tanstack/react-router";
import { LeaveDialog } from "../ui/leave-dialog.tsx";
import { hasTypedText } from "../ui/typed-text.ts";

/** A page keeps its fields while only the part of its address behind `?` changes. */
const costsTypedText: ShouldBlockFn = ({ current, next }) =>
  current.pathname !== next.pathname && hasTypedText();

const holdsTypedText = () => hasTypedText();

/** Asks before another page costs what was typed in a form of this one; the browser asks before its tab is closed or loaded anew. */
export function TypedTextGuard() {
  return <LeaveDialog costs={costsTypedText} asksOnUnload={holdsTypedText} />;
}
