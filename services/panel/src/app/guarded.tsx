import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, Suspense, useEffect } from "react";
import { host } from "../api/hosts.ts";
import { useMe } from "../api/session.ts";
import { Failure } from "../ui/failure.tsx";
import { Loading } from "../ui/loading.tsx";
import { NotFoundPage } from "../ui/not-found-page.tsx";
import { decideAccess } from "./access.ts";
import type { Route } from "./routes.ts";

/** Shows a page to those who may see it, and sends the others to sign in. */
export function Guarded({ route, children }: { route: Route; children: ReactNode }) {
  const me = useMe();
  const page = <Suspense fallback={<Loading />}>{children}</Suspense>;
  if (route.access === "anyone") return page;
  if (me.isPending) return <Loading />;
  if (me.data === undefined) return <Failure error={me.error} retry={() => void me.refetch()} />;
  const decision = decideAccess(route, { me: me.data, host });
  if (decision === "not-found") return <NotFoundPage />;
  if (decision === "sign-in") return <ToSignIn />;
  return page;
}

/** Once, with the address of the moment: the location changes before this page is gone. */
function ToSignIn() {
  const navigate = useNavigate();
  useEffect(() => {
    const next = location.pathname + location.search;
    void navigate({ to: "/login", search: next === "/" ? {} : { next }, replace: true, ignoreBlocker: true });
  }, [navigate]);
  return null;
}
