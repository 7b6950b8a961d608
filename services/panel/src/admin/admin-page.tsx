import { useNavigate } from "@tanstack/react-router";
import { useEffect } from "react";
import { Loading } from "../ui/loading.tsx";

/** Leads to the first page of the platform. */
export function Page() {
  const navigate = useNavigate();
  useEffect(() => void navigate({ to: "/admin/images", replace: true }), [navigate]);
  return <Loading />;
}
