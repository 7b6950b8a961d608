import { useAmend } from "../api/query.ts";
import { isFull } from "./use-server.ts";

type Desired = "Running" | "Stopped";

/** Shows at once what the answer to a wake or a stop says: the next poll may still be older than it. */
export function useDesired(): (name: string, desiredState: Desired) => void {
  const amend = useAmend();
  return (name, desiredState) => {
    const change = <Row extends { name: string }>(row: Row): Row =>
      row.name === name ? { ...row, desiredState } : row;
    amend("servers.viewStatus", (status) => (isFull(status) ? change(status) : status));
    amend("servers.fleet", (list) => ({ ...list, items: list.items.map(change) }));
    amend("ownership.listMine", (list) => ({ ...list, items: list.items.map(change) }));
  };
}
