import { age, type Dashboard, quantile, rate } from "./grafana.ts";

export const storage: Dashboard = {
  name: "storage",
  title: "Worlds and backups",
  rows: [
    {
      title: "Backups",
      panels: [
        {
          title: "Size of all backups",
          unit: "bytes",
          queries: [{ expr: "max(svc_backup_store_bytes)", legend: "bytes" }],
        },
        {
          title: "Deduplicated archives, and what they take",
          unit: "bytes",
          queries: [
            { expr: "max(svc_archive_deduplicated_bytes)", legend: "as files" },
            { expr: "max(svc_archive_pack_bytes)", legend: "packs" },
          ],
        },
        {
          title: "Number of backups",
          queries: [{ expr: "max(svc_backups_present)", legend: "backups" }],
        },
        {
          title: "Made, deleted and condemned in the last day",
          queries: [
            {
              expr: "sum by (event, reason) (increase(svc_backups_total[1d]))",
              legend: "{{event}} {{reason}}",
              mayBeEmpty: true,
            },
          ],
        },
        {
          title: "Scheduled backups due",
          queries: [{ expr: "max(svc_scheduled_backups_waiting)", legend: "servers" }],
        },
        {
          title: "Delayed by a running Job",
          unit: "s",
          queries: [{ expr: "max(svc_scheduled_backups_slot_seconds)", legend: "seconds" }],
        },
        {
          title: "Paused, the store is full",
          kind: "stat",
          queries: [{ expr: "max(svc_scheduled_backups_paused)" }],
        },
      ],
    },
    {
      title: "Jobs",
      panels: [
        {
          title: "World Jobs in the last hour",
          queries: [
            {
              expr: "sum by (kind, result) (increase(svc_backup_duration_seconds_count[1h]))",
              legend: "{{kind}} {{result}}",
            },
          ],
        },
        {
          title: "Duration of world Jobs, p90",
          unit: "s",
          queries: [{ expr: quantile(0.9, "svc_backup_duration_seconds", ["kind"]), legend: "{{kind}}" }],
        },
        {
          title: "Duration of a pass over all Jobs, p90",
          unit: "s",
          queries: [
            { expr: quantile(0.9, "svc_storage_settle_duration_seconds", ["result"]), legend: "{{result}}" },
          ],
        },
        {
          title: "Duration of file Jobs, p90",
          unit: "s",
          queries: [
            {
              expr: quantile(0.9, "svc_file_job_duration_seconds", ["mode"]),
              legend: "{{mode}}",
              mayBeEmpty: true,
            },
          ],
        },
        {
          title: "Uploads",
          unit: "Bps",
          queries: [{ expr: `sum(${rate("svc_upload_bytes_total")})`, legend: "bytes" }],
        },
        {
          title: "Downloads ended in the last hour",
          queries: [
            {
              expr: "sum by (kind, result) (increase(svc_exports_total[1h]))",
              legend: "{{kind}} {{result}}",
              mayBeEmpty: true,
            },
          ],
        },
        { title: "Uploads open", kind: "stat", queries: [{ expr: "max(svc_uploads_open)" }] },
      ],
    },
    {
      title: "Reaper",
      panels: [
        {
          title: "Since the last successful run",
          unit: "s",
          kind: "stat",
          queries: [{ expr: age("svc_reaper_last_success_timestamp_seconds"), mayBeEmpty: true }],
        },
        {
          title: "Worlds deleted in the last day",
          kind: "stat",
          queries: [{ expr: "sum(increase(svc_reaper_worlds_deleted_total[1d]))" }],
        },
        {
          title: "Events in the last day",
          queries: [
            {
              expr: "sum by (event) (increase(svc_reaper_events_total[1d]))",
              legend: "{{event}}",
              mayBeEmpty: true,
            },
          ],
        },
      ],
    },
    {
      title: "Database bundles and upkeep",
      panels: [
        {
          title: "Age of the newest daily bundle",
          unit: "s",
          kind: "stat",
          width: 6,
          queries: [{ expr: age("svc_db_backup_last_success_timestamp_seconds"), mayBeEmpty: true }],
        },
        {
          title: "Its size",
          unit: "bytes",
          kind: "stat",
          width: 6,
          queries: [{ expr: "max(svc_db_backup_last_size_bytes)" }],
        },
        {
          title: "Damaged bundles",
          kind: "stat",
          width: 6,
          queries: [{ expr: "max(svc_db_backup_damaged_bundles)" }],
        },
        {
          title: "Since the last rehearsal",
          unit: "s",
          kind: "stat",
          width: 6,
          queries: [{ expr: age("svc_db_rehearsal_last_success_timestamp_seconds"), mayBeEmpty: true }],
        },
        {
          title: "Failures of periodic tasks in the last day",
          width: 24,
          queries: [
            { expr: "sum by (task) (increase(svc_watchdog_task_failures_total[1d]))", legend: "{{task}}" },
          ],
        },
      ],
    },
  ],
};
