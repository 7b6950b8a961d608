import type { Input, Output } from "../../api/operations.ts";
import { pageOf } from "../../ui/page-number.ts";
import type { StatusLook } from "../../ui/status.tsx";
import { type Query, textOf } from "../address.ts";

export type Build = Output<"builds.readBuild">;
type BuildStatus = Build["status"];

export const pageSize = 50;
export const statusFilters = ["all", "pending", "building", "succeeded", "failed", "cancelled"] as const;

export type BuildsView = {
  search: string;
  /** The service takes one word, so a state is chosen or something is searched for. */
  status: (typeof statusFilters)[number];
  /** 1 is the first. */
  page: number;
};

/** Reads what the address says about the list of builds. */
export function buildsViewOf({ q, status, page }: Query): BuildsView {
  const search = textOf(q);
  return {
    search,
    status: search === "" ? (statusFilters.find((name) => name === status) ?? "all") : "all",
    page: pageOf(page),
  };
}

/** What the address says for a view. */
export function addressOf({ search, status, page }: BuildsView): Record<string, string | number> {
  return {
    ...(search !== "" && { q: search }),
    ...(search === "" && status !== "all" && { status }),
    ...(page > 1 && { page }),
  };
}

/** The request for a page of builds. */
export function requestOf({ search, status, page }: BuildsView): Input<"builds.listBuilds"> {
  const query = search.trim().slice(0, 256) || (status === "all" ? "" : status);
  return { limit: pageSize, offset: (page - 1) * pageSize, ...(query !== "" && { query }) };
}

/** Whether an id of the address can be one of a build; others are not asked for. */
export function isBuildId(id: string): boolean {
  return /^[0-9a-f]{32}$/.test(id);
}

export const lookOfStatus: Record<BuildStatus, StatusLook> = {
  pending: "unknown",
  building: "starting",
  succeeded: "running",
  failed: "failed",
  cancelled: "stopping",
};

/** Whether a build has not come to its end. */
export function isActive(status: BuildStatus): boolean {
  return status === "pending" || status === "building";
}

type Named = Pick<Build, "id" | "image_ref" | "status" | "requested_by">;

/** Builds that may have a scan to compare with; those of the same image and of the same person first. */
export function comparableWith<Other extends Named>(build: Named, all: readonly Other[]): Other[] {
  const others = all.filter(
    ({ id, status }) => id !== build.id && (status === "succeeded" || status === "failed"),
  );
  const isClose = ({ image_ref, requested_by }: Named) =>
    image_ref === build.image_ref || requested_by === build.requested_by;
  return [...others.filter(isClose), ...others.filter((other) => !isClose(other))];
}

/** An image's name without the registry, which is the same for all builds. */
export function nameInRegistry(imageRef: string): string {
  return imageRef.slice(imageRef.indexOf("/") + 1);
}
