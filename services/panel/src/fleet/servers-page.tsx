import { useMe } from "../api/session.ts";
import { FleetList } from "./fleet-list.tsx";
import { OwnList } from "./own-list.tsx";

/** The servers of the platform for staff, else those that the person owns or may claim. */
export function Page() {
  const isStaff = useMe().data?.is_admin ?? false;
  return isStaff ? <FleetList /> : <OwnList />;
}
