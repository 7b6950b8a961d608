import { age, type Dashboard, quantile, rate } from "./grafana.ts";

const requests = "svc_http_requests_total";
const byFace = (selector: string) => `sum by (face) (${rate(`${requests}${selector}`)})`;

export const overview: Dashboard = {
  name: "overview",
  title: "Overview",
  rows: [
    {
      title: "Is everything there",
      panels: [
        {
          title: "Alerts firing",
          kind: "stat",
          width: 4,
          queries: [{ expr: 'count(ALERTS{alertstate="firing"}) or vector(0)' }],
        },
        {
          title: "Processes not answering",
          kind: "stat",
          width: 4,
          queries: [{ expr: "count(up == 0) or vector(0)" }],
        },
        {
          title: "Replicas",
          kind: "stat",
          width: 8,
          queries: [{ expr: "count by (component) (svc_build_info)", legend: "{{component}}" }],
        },
        {
          title: "Versions",
          kind: "stat",
          width: 8,
          queries: [{ expr: "count by (version) (svc_build_info)", legend: "{{version}}" }],
        },
      ],
    },
    {
      title: "Players and servers",
      panels: [
        {
          title: "Players",
          queries: [
            { expr: "sum(svc_proxy_players)", legend: "online" },
            { expr: "sum(svc_proxy_waiting)", legend: "waiting" },
            { expr: "sum(svc_login_gate_players)", legend: "login gate" },
          ],
        },
        {
          title: "Servers by phase",
          queries: [
            { expr: "count by (phase) (max by (server, phase) (svc_server_phase))", legend: "{{phase}}" },
          ],
        },
        {
          title: "Time to start",
          unit: "s",
          queries: [{ expr: quantile(0.9, "svc_start_duration_seconds"), legend: "p90" }],
        },
      ],
    },
    {
      title: "Requests",
      panels: [
        { title: "Requests", unit: "reqps", queries: [{ expr: byFace(""), legend: "{{face}}" }] },
        {
          title: "Share that fails (5xx)",
          unit: "percentunit",
          queries: [
            {
              expr: `(${byFace('{code=~"5.."}')} or ${byFace("")} * 0) / ${byFace("")}`,
              legend: "{{face}}",
            },
          ],
        },
        {
          title: "Latency, p95",
          unit: "s",
          queries: [
            { expr: quantile(0.95, "svc_http_request_duration_seconds", ["face"]), legend: "{{face}}" },
          ],
        },
      ],
    },
    {
      title: "Worlds, database, packs",
      panels: [
        {
          title: "Backups of worlds",
          kind: "stat",
          width: 4,
          queries: [{ expr: "max(svc_backups_present)" }],
        },
        {
          title: "Their size",
          kind: "stat",
          unit: "bytes",
          width: 4,
          queries: [{ expr: "max(svc_backup_store_bytes)" }],
        },
        {
          title: "Age of the newest database bundle",
          kind: "stat",
          unit: "s",
          width: 4,
          queries: [{ expr: age("svc_db_backup_last_success_timestamp_seconds"), mayBeEmpty: true }],
        },
        {
          title: "Since the last reaper run",
          kind: "stat",
          unit: "s",
          width: 4,
          queries: [{ expr: age("svc_reaper_last_success_timestamp_seconds"), mayBeEmpty: true }],
        },
        {
          title: "Packs in review",
          kind: "stat",
          width: 4,
          queries: [{ expr: 'max(svc_submissions{status="pending_review"})' }],
        },
        {
          title: "Builds running",
          kind: "stat",
          width: 4,
          queries: [{ expr: 'max(svc_image_builds{status="building"})', mayBeEmpty: true }],
        },
      ],
    },
    {
      title: "Watchdog",
      panels: [
        {
          title: "Alerts of the watchdog",
          queries: [{ expr: "max by (severity) (svc_watchdog_alerts)", legend: "{{severity}}" }],
        },
        {
          title: "Since its last run",
          unit: "s",
          kind: "stat",
          queries: [{ expr: age("svc_watchdog_last_run_timestamp_seconds"), mayBeEmpty: true }],
        },
        {
          title: "Recipients and channels not reached",
          kind: "stat",
          queries: [{ expr: "max(svc_watchdog_failing_deliveries)" }],
        },
      ],
    },
  ],
};
