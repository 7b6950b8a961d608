import { createContext, useContext, useMemo } from "react";
import type { Output } from "../api/operations.ts";
import { poll, useOperation } from "../api/query.ts";
import { isWithin } from "./paths.ts";
import type { Right } from "./presets.ts";

type MyAccess = Output<"members.readMine">;

/** What the reader may do at the server whose page is open. */
export type Access = {
  as: MyAccess["as"];
  limits: MyAccess["limits"];
  may: (right: Right) => boolean;
};

const nothing: Access = { as: "member", limits: undefined, may: () => false };

const AccessContext = createContext<Access>(nothing);
export const AccessProvider = AccessContext.Provider;

/** What the reader may do at the server whose page is open; nothing outside of one. */
export function useAccess(): Access {
  return useContext(AccessContext);
}

/** Owner and staff may do everything; it is asked for again, because an owner can change it at any time. */
export function useMyAccess(name: string, isAsked: boolean) {
  const { data, error, refetch } = useOperation(
    "members.readMine",
    { name },
    { enabled: isAsked, every: poll.status },
  );
  const access = useMemo((): Access | undefined => {
    if (!data) return undefined;
    const { as, limits, rights } = data;
    return { as, limits, may: (right) => as !== "member" || rights.includes(right) };
  }, [data]);
  return { access, error, refetch: () => void refetch() };
}

/** Whether the reader may change a file or folder of the world, and put something into it. */
export function useMayWrite(): (path: string) => boolean {
  const { may, limits } = useAccess();
  return (path) => may("files.write") && isWithin(path, limits?.write_paths);
}
