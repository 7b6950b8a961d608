// The tables of this service as kysely sees them (docs/reference/data.md#database).

import type {
  AuditEntry,
  announcements,
  schedules,
  serverFilters,
  serverGroups,
  serverTemplates,
} from "@svc/proto";
import type { Store } from "@svc/store";
import type { ColumnType, Generated, JSONColumnType } from "kysely";

type ServersTable = {
  name: string;
  owner_id: string | null;
  claimed_at: Date | null;
  last_active_at: Generated<Date>;
  warned_3d_at: Date | null;
  warned_1d_at: Date | null;
  cached_phase: string | null;
  created_at: Generated<Date>;
  deleted_at: Date | null;
  cached_cpu_milli: Generated<number>;
  cached_memory_mb: Generated<number>;
  cached_storage_mb: Generated<number>;
  retire_requested_at: Date | null;
  retire_delete: Generated<boolean>;
  offered: Generated<boolean>;
  last_wake_at: Date | null;
  members: Generated<unknown>;
  created_by: string | null;
};

/** An offer to share a server; `offered` is a grant. */
export type AccessInvitationsTable = {
  id: string;
  server_name: string;
  owner_id: string;
  kind: "link" | "mail" | "player";
  secret_hash: string | null;
  email: string | null;
  mc_uuid: string | null;
  player_name: string | null;
  offered: unknown;
  invited_by: string;
  inviter_name: string;
  created_at: Generated<Date>;
  expires_at: Date;
  ended_at: Date | null;
  outcome: "accepted" | "declined" | "revoked" | null;
  accepted_by: string | null;
  member_id: string | null;
};

export type CrashNoticesTable = {
  id: string;
  server_name: string;
  owner_id: string;
  kind: "stopped" | "looping" | "left";
  cause: string;
  at: Date;
  created_at: Generated<Date>;
  due_at: Generated<Date>;
  attempts: Generated<number>;
  done_at: Date | null;
};

export type AnnouncementsTable = {
  id: string;
  text_en: string;
  text_zh: string | null;
  severity: announcements.Severity;
  starts_at: Date;
  ends_at: Date;
  maintenance: boolean;
  public: boolean;
  ended_at: Date | null;
  created_by: string;
  created_at: Date;
  changed_by: string | null;
  changed_at: Date | null;
};

/** Written as text, because an array would become one of PostgreSQL's. */
type Json<T> = ColumnType<T, string | undefined, string>;

export type SchedulesTable = {
  id: Generated<number>;
  server_name: string;
  owner_id: string | null;
  label: string;
  action: schedules.ScheduleAction;
  command: string;
  every_minutes: number;
  minute_of_day: number;
  weekdays: number;
  timezone: string;
  warn_minutes: number;
  enabled: boolean;
  next_run_at: Date | null;
  warned_for: Date | null;
  run_state: Generated<schedules.RunState>;
  run_resume: Generated<boolean>;
  run_step_at: Date | null;
  run_job: Generated<string>;
  last_run_at: Date | null;
  last_result: Generated<schedules.RunResult>;
  last_detail: Generated<string>;
  last_code: Generated<schedules.RunCode | "">;
  last_cause: Generated<string>;
  created_by: string;
  created_at: Date;
  updated_at: Date;
  saved_by: string | null;
  only_if: ColumnType<schedules.StepCondition | "", schedules.StepCondition | "" | undefined>;
  next_steps: Json<readonly schedules.ScheduleStep[]>;
  run_step: Generated<number>;
  run_waits: Generated<boolean>;
  chain_code: Generated<schedules.ChainCode | "">;
  step_endings: Json<readonly schedules.StepEnding[]>;
  run_revoked: Generated<boolean>;
  last_ok_at: Date | null;
  trigger: ColumnType<schedules.ScheduleTrigger | "", schedules.ScheduleTrigger | "" | undefined>;
  trigger_minutes: Generated<number>;
  pause_minutes: Generated<number>;
  last_trigger: ColumnType<LastTrigger | null, string | null | undefined, string | null>;
  last_fired_at: Date | null;
  run_ended_at: Date | null;
};

/** What a run was begun for; `causes` are ids of tasks, whose runs may have brought it about. */
export type LastTrigger = {
  event: string;
  trigger: schedules.ScheduleTrigger;
  /** RFC 3339. */
  at: string;
  about: string;
  causes: readonly number[];
};

/** Something that happened, for one task that waits for it. */
export type TriggerEventsTable = {
  schedule_id: number;
  event: string;
  trigger: schedules.ScheduleTrigger;
  happened_at: Date;
  about: Generated<string>;
  due_at: Date;
  causes: Json<readonly number[]>;
  outcome: Generated<schedules.TriggerOutcome>;
};

/** Whether somebody is on a server, as it was last counted. */
type ServerPresenceTable = {
  server_name: string;
  is_empty: boolean;
  changed_at: Date;
  looked_at: Date;
};

type ServerFiltersTable = {
  id: string;
  account_id: string;
  name: string;
  search: string;
  show: "" | NonNullable<serverFilters.ServerFilter["show"]>;
  tag: string;
  node: string;
  sort: serverFilters.ServerFilter["sort"];
  saved_at: Date;
};

export type ServerTemplatesTable = {
  name: string;
  title: string;
  description: string;
  offered: boolean;
  settings: JSONColumnType<serverTemplates.TemplateSettings>;
  revision: number;
  changed_by: string;
  changed_at: Date;
};

export type ServerGroupsTable = {
  id: string;
  account_id: string;
  name: string;
  stage_seconds: number;
  created_at: Date;
  changed_at: Date;
};

/** `owner_id` and `claimed_at`: those of the server when it was added. */
type ServerGroupMembersTable = {
  group_id: string;
  server_name: string;
  stage: number;
  place: number;
  owner_id: string | null;
  claimed_at: Date | null;
};

export type ServerGroupRunsTable = {
  group_id: string;
  id: string;
  direction: serverGroups.Direction;
  state: serverGroups.RunState;
  cancelling: Generated<boolean>;
  revision: number;
  stage: number;
  stage_until: Date;
  stage_seconds: number;
  stages: ColumnType<serverGroups.RunServer[][], string, string>;
  started_by: string;
  request_id: string;
  started_at: Date;
  ended_at: Date | null;
};

/** Sums and counts of the samples of one step; a count of 0 is a gap. */
export type ServerHistoryTable = {
  server_name: string;
  at: Date;
  step_minutes: number;
  players_sum: number;
  players_max: number;
  players_count: number;
  memory_mib_sum: number;
  cpu_milli_sum: number;
  usage_count: number;
  tps_sum: number;
  tps_count: number;
};

export type PlatformHistoryTable = {
  at: Date;
  step_minutes: number;
  awake_sum: number;
  players_sum: number;
  players_max: number;
  samples: number;
};

/** The end of one run of a server that nobody asked for. */
export type ServerCrashesTable = {
  id: string;
  server_name: string;
  /** Which run of which pod it was. */
  run: string;
  at: Date;
  cause: string;
  detail: string | null;
  exit_code: number | null;
  exit_reason: string | null;
  ran_seconds: number;
  was_running: boolean;
  memory_mib: number | null;
  memory_limit_mib: number | null;
  tps: number | null;
  behind_ms: number | null;
  watchdog: boolean | null;
  lines: string[];
};

/** Who was on which server; `visit_*` are of the visit that was counted last. */
export type KnownPlayersTable = {
  server_name: string;
  mc_uuid: string;
  name: string;
  first_seen: Date;
  last_seen: Date;
  /** Digits: a bigint. */
  played_ms: string;
  visits: number;
  visit_proxy: string;
  visit_number: string;
  visit_ms: string;
};

/** A player as a proxy reported them; `since` is when this session was first reported. */
export type ProxyPlayer = {
  mc_uuid: string;
  name: string;
  session: string;
  server?: string | undefined;
  since: string;
};

export type Tables = {
  servers: ServersTable;
  access_invitations: AccessInvitationsTable;
  announcements: AnnouncementsTable;
  announcement_deliveries: {
    announcement_id: string;
    server_name: string;
    minutes: number;
    due_at: Date;
    told_at: Generated<Date>;
  };
  status_pages: { server_name: string; owner_id: string | null; since: Date; shown_by: string };
  status_days: {
    server_name: string;
    /** As `YYYY-MM-DD`, which is what it is cast to. */
    day: ColumnType<never, never, never>;
    known_minutes: number;
    down_minutes: number;
    planned_minutes: number;
    counted_to: Date;
  };
  status_overview: { id: Generated<boolean>; since: Date; shown_by: string };
  crash_notices: CrashNoticesTable;
  invitation_attempts: { key: string; tokens: number; refilled_at: Date };
  server_filters: ServerFiltersTable;
  server_templates: ServerTemplatesTable;
  server_groups: ServerGroupsTable;
  server_group_members: ServerGroupMembersTable;
  server_group_runs: ServerGroupRunsTable;
  server_schedules: SchedulesTable;
  trigger_events: TriggerEventsTable;
  server_presence: ServerPresenceTable;
  server_aliases: { subdomain: string; server_name: string };
  server_allowlist: {
    server_name: string;
    mc_uuid: string;
    added_at: Generated<Date>;
    revoked_at: Date | null;
  };
  account_transfers: {
    transfer_id: string;
    from_user_id: string;
    to_user_id: string;
    servers: string[];
    transferred_at: Generated<Date>;
  };
  player_versions: { mc_uuid: string; protocol: number; seen_on: Date };
  known_players: KnownPlayersTable;
  player_notes: {
    id: string;
    server_name: string;
    mc_uuid: string;
    text: string;
    author: string;
    at: Date;
  };
  player_erasures: {
    mc_uuid: string;
    erased_at: Date;
    visits: Json<Readonly<Record<string, { number: number; ms: number }>>>;
  };
  player_names: { mc_uuid: string; name: string; seen_at: Date };
  proxy_players: { proxy: string; players: ProxyPlayer[]; seen_at: Date };
  player_invitations: {
    id: string;
    from_uuid: string;
    from_name: string;
    to_uuid: string;
    server_name: string;
    expires_at: Date;
  };
  server_changes: { id: string; entry: ColumnType<AuditEntry, string, never>; admitted_at: Generated<Date> };
  server_history: ServerHistoryTable;
  server_phases: {
    server_name: string;
    at: Date;
    phase: string;
    is_wake: boolean;
    start_seconds: number | null;
  };
  platform_history: PlatformHistoryTable;
  server_crashes: ServerCrashesTable;
  console_follows: { server_name: string; replica: string; held_until: Date; wanted_until: Date };
};

export type LifecycleStore = Store<Tables>;
