import type { Generated } from "kysely";

export type OffsiteConfirmationsTable = { id: Generated<boolean>; listed_at: Date };
