import type { Input, Output } from "../../api/operations.ts";
import { pageOf } from "../../ui/page-number.ts";
import type { StatusLook } from "../../ui/status.tsx";
import { type Query, textOf } from "../address.ts";

export type Submission = Output<"submissions.read">;
type SubmissionStatus = Submission["status"];

export const pageSize = 50;
export const submissionStatuses = ["pending_review", "approved", "rejected"] as const;

export type SubmissionsView = { search: string; status: SubmissionStatus | "all"; page: number };

/** Reads what the address says about the list. Whoever comes to review sees what waits for it. */
export function submissionsViewOf({ q, status, page }: Query): SubmissionsView {
  return {
    search: textOf(q),
    status:
      status === "all" ? "all" : (submissionStatuses.find((name) => name === status) ?? "pending_review"),
    page: pageOf(page),
  };
}

/** What the address says for a view. */
export function addressOf({ search, status, page }: SubmissionsView): Record<string, string | number> {
  return {
    ...(search !== "" && { q: search }),
    ...(status !== "pending_review" && { status }),
    ...(page > 1 && { page }),
  };
}

/** The request for a page of submissions. */
export function requestOf({ search, status, page }: SubmissionsView): Input<"submissions.list"> {
  const query = search.trim().slice(0, 256);
  return {
    limit: pageSize,
    offset: (page - 1) * pageSize,
    ...(query !== "" && { query }),
    ...(status !== "all" && { status }),
  };
}

/** Whether an id of the address can be one of a submission; others are not asked for. */
export function isSubmissionId(id: string): boolean {
  return /^[A-Za-z0-9_-]{1,64}$/.test(id);
}

export const lookOfSubmission: Record<SubmissionStatus, StatusLook> = {
  pending_review: "starting",
  approved: "running",
  rejected: "failed",
};

/** What a reviewer can do: approve the digest that was looked at, and only as long as it is still there. */
export type ReviewActs = { approve: boolean; reject: boolean; isStale: boolean };

export function decideReview(
  submission: Pick<Submission, "status" | "context_sha256">,
  reviewed: string | undefined,
): ReviewActs {
  const isOpen = submission.status === "pending_review";
  const isStale = isOpen && reviewed !== undefined && submission.context_sha256 !== reviewed;
  return {
    approve: isOpen && reviewed !== undefined && !isStale,
    reject: isOpen,
    isStale,
  };
}
