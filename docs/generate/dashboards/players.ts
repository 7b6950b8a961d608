import { type Dashboard, quantile, rate } from "./grafana.ts";

export const players: Dashboard = {
  name: "players",
  title: "Players",
  rows: [
    {
      title: "Proxy",
      panels: [
        {
          title: "Players by proxy",
          queries: [{ expr: "sum by (instance) (svc_proxy_players)", legend: "{{instance}}" }],
        },
        { title: "Waiting for a server", queries: [{ expr: "sum(svc_proxy_waiting)", legend: "players" }] },
        {
          title: "Calls of the internal face",
          unit: "reqps",
          queries: [
            {
              expr: `sum by (outcome) (${rate("svc_proxy_call_duration_seconds_count")})`,
              legend: "{{outcome}}",
            },
          ],
        },
        {
          title: "Duration of calls, p95",
          unit: "s",
          queries: [
            {
              expr: quantile(0.95, "svc_proxy_call_duration_seconds", ["operation"]),
              legend: "{{operation}}",
            },
          ],
        },
        {
          title: "Connections refused",
          unit: "ops",
          queries: [
            {
              expr: `sum by (reason) (${rate("svc_proxy_connections_refused_total")})`,
              legend: "{{reason}}",
              mayBeEmpty: true,
            },
          ],
        },
        {
          title: "Other problems in the last hour",
          queries: [
            {
              expr: "sum by (what) (increase(svc_proxy_events_total[1h]))",
              legend: "{{what}}",
              mayBeEmpty: true,
            },
          ],
        },
      ],
    },
    {
      title: "Login gate and session servers",
      panels: [
        { title: "At the login gate", queries: [{ expr: "sum(svc_login_gate_players)", legend: "players" }] },
        {
          title: "What became of them in the last hour",
          queries: [
            {
              expr: "sum by (outcome) (increase(svc_login_gate_outcomes_total[1h]))",
              legend: "{{outcome}}",
              mayBeEmpty: true,
            },
          ],
        },
        {
          title: "Failed calls of the gate in the last hour",
          queries: [
            {
              expr: "sum by (call) (increase(svc_login_gate_calls_failed_total[1h]))",
              legend: "{{call}}",
              mayBeEmpty: true,
            },
          ],
        },
        {
          title: "hasJoined",
          unit: "reqps",
          queries: [
            {
              expr: `sum by (answer) (${rate("svc_has_joined_total")})`,
              legend: "{{answer}}",
              mayBeEmpty: true,
            },
          ],
        },
        {
          title: "Answers of session servers",
          unit: "reqps",
          queries: [
            {
              expr: `sum by (source, outcome) (${rate("svc_session_source_total")})`,
              legend: "{{source}} {{outcome}}",
              mayBeEmpty: true,
            },
          ],
        },
      ],
    },
  ],
};
