import assert from "node:assert/strict";
import { test } from "node:test";
import type { Principal } from "@svc/proto";
import type { JobRow } from "../database/tables.ts";
import { toWorldJob } from "./row.ts";

const row = (about: Partial<JobRow>): JobRow => ({
  ...{ job: "backup-1", server_name: "anvil", kind: "backup", state: "running", message: "", code: "" },
  ...{
    owner_id: "usr-1",
    started_by: "ada",
    reason: "manual",
    archive: null,
    run_key: null,
    backup_id: null,
  },
  ...{ then_restore: null, then_restore_reason: null, only_paths: null, recovery: null, audit: null },
  ...{ started_at: new Date(0), finished_at: null },
  ...about,
});
const ada: Principal = {
  ...{ kind: "account", user_id: "usr-1", username: "ada", role: "user" },
  ...{ staff: false, setup: false, session: "x" },
};

const cases: Readonly<
  Record<string, [Partial<JobRow>, reader: Principal | undefined, by: string | undefined]>
> = {
  "one's own": [{}, ada, "you"],
  "of another account, which is not named": [{ started_by: "grace" }, ada, "other"],
  "of a schedule": [{ started_by: "storage", reason: "scheduled" }, ada, "svc"],
  "that a service reads": [{}, undefined, undefined],
};
for (const [what, [about, reader, by]] of Object.entries(cases)) {
  test(`a Job ${what}: ${by ?? "no requester is shown"}`, () => {
    assert.equal(toWorldJob(row(about), reader).by, by);
  });
}
