import { type Dashboard, quantile, rate } from "./grafana.ts";

export const gateway: Dashboard = {
  name: "gateway",
  title: "Gateway and sign-in",
  rows: [
    {
      title: "Requests",
      panels: [
        {
          title: "By status code",
          unit: "reqps",
          queries: [
            {
              expr: `sum by (face, code) (${rate("svc_http_requests_total")})`,
              legend: "{{face}} {{code}}",
            },
          ],
        },
        {
          title: "The ten busiest routes",
          unit: "reqps",
          queries: [
            {
              expr: `topk(10, sum by (face, method, route) (${rate("svc_http_requests_total")}))`,
              legend: "{{face}} {{method}} {{route}}",
            },
          ],
        },
        {
          title: "The ten slowest routes, p95",
          unit: "s",
          queries: [
            {
              expr: `topk(10, ${quantile(0.95, "svc_http_request_duration_seconds", ["face", "route"])})`,
              legend: "{{face}} {{route}}",
            },
          ],
        },
      ],
    },
    {
      title: "Event streams",
      panels: [
        {
          title: "Open",
          queries: [{ expr: "sum by (instance) (svc_event_streams_open)", legend: "{{instance}}" }],
        },
        {
          title: "Lines",
          unit: "ops",
          queries: [
            { expr: `sum(${rate("svc_event_stream_lines_total")})`, legend: "written" },
            { expr: `sum(${rate("svc_event_stream_lines_dropped_total")})`, legend: "dropped" },
          ],
        },
      ],
    },
    {
      title: "Sign-in and mail",
      panels: [
        {
          title: "Refused sign-ins in the last hour",
          queries: [
            {
              expr: "sum by (door, reason) (increase(svc_auth_failures_total[1h]))",
              legend: "{{door}} {{reason}}",
              mayBeEmpty: true,
            },
          ],
        },
        {
          title: "Refused by a rate limit",
          unit: "reqps",
          queries: [{ expr: `sum by (scope) (${rate("svc_rate_limited_total")})`, legend: "{{scope}}" }],
        },
        {
          title: "Accounts locked for codes in the last day",
          queries: [
            { expr: "sum by (purpose) (increase(svc_auth_otp_lockouts_total[1d]))", legend: "{{purpose}}" },
          ],
        },
        {
          title: "Mails in the last hour",
          queries: [{ expr: "sum by (result) (increase(svc_mail_total[1h]))", legend: "{{result}}" }],
        },
        {
          title: "Sessions revoked in the last hour",
          queries: [{ expr: "sum(increase(svc_sessions_revoked_total[1h]))", legend: "sessions" }],
        },
        {
          title: "Server transfers in the last day",
          queries: [
            {
              expr: "sum by (result) (increase(svc_account_migrations_total[1d]))",
              legend: "{{result}}",
              mayBeEmpty: true,
            },
          ],
        },
      ],
    },
    {
      title: "SFTP",
      panels: [
        {
          title: "Sessions",
          queries: [
            { expr: "sum by (instance) (svc_sftp_sessions)", legend: "{{instance}}", mayBeEmpty: true },
          ],
        },
        {
          title: "Sign-ins in the last hour",
          queries: [
            {
              expr: "sum by (outcome) (increase(svc_sftp_sign_ins_total[1h]))",
              legend: "{{outcome}}",
              mayBeEmpty: true,
            },
          ],
        },
        {
          title: "Requests",
          unit: "reqps",
          queries: [
            {
              expr: `sum by (outcome) (${rate("svc_sftp_operations_total")})`,
              legend: "{{outcome}}",
              mayBeEmpty: true,
            },
          ],
        },
        {
          title: "Failed requests by operation in the last hour",
          queries: [
            {
              expr: 'sum by (operation) (increase(svc_sftp_operations_total{outcome="failed"}[1h]))',
              legend: "{{operation}}",
              mayBeEmpty: true,
            },
          ],
        },
        {
          title: "Transfers on disk, share of what they may have",
          unit: "percentunit",
          queries: [
            {
              expr: "max by (instance) (svc_sftp_spool_bytes / svc_sftp_spool_limit_bytes)",
              legend: "{{instance}}",
              mayBeEmpty: true,
            },
          ],
        },
      ],
    },
  ],
};
