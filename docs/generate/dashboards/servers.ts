import { type Dashboard, quantiles, rate } from "./grafana.ts";

export const servers: Dashboard = {
  name: "servers",
  title: "Servers",
  rows: [
    {
      title: "Servers",
      panels: [
        {
          title: "By phase",
          queries: [
            { expr: "count by (phase) (max by (server, phase) (svc_server_phase))", legend: "{{phase}}" },
          ],
        },
        {
          title: "Failed",
          queries: [
            {
              expr: 'max by (server) (svc_server_phase{phase="Failed"})',
              legend: "{{server}}",
              mayBeEmpty: true,
            },
          ],
        },
        { title: "All", kind: "stat", queries: [{ expr: "max(svc_servers_total)" }] },
      ],
    },
    {
      title: "Starts",
      panels: [
        { title: "Time to start", unit: "s", width: 12, queries: quantiles("svc_start_duration_seconds") },
        {
          title: "Starts in the last hour",
          width: 12,
          queries: [{ expr: "sum(increase(svc_start_duration_seconds_count[1h]))", legend: "starts" }],
        },
      ],
    },
    {
      title: "Reconciler",
      panels: [
        {
          title: "Passes",
          unit: "ops",
          queries: [{ expr: `sum by (result) (${rate("svc_reconciles_total")})`, legend: "{{result}}" }],
        },
        { title: "Duration of a pass", unit: "s", queries: quantiles("svc_reconcile_duration_seconds") },
        {
          title: "Waiting and oldest pass",
          queries: [
            { expr: "max(svc_reconcile_queue_depth)", legend: "servers waiting" },
            { expr: "max(svc_reconcile_oldest_pass_seconds)", legend: "seconds of the oldest pass" },
          ],
        },
        { title: "Leaders", kind: "stat", queries: [{ expr: "sum(svc_operator_leading)" }] },
      ],
    },
    {
      title: "Schedules, history, consoles",
      panels: [
        {
          title: "Scheduled tasks",
          queries: [
            {
              expr: "sum by (action, result) (increase(svc_schedule_runs_total[1h]))",
              legend: "{{action}} {{result}}",
              mayBeEmpty: true,
            },
          ],
        },
        {
          title: "Duration of a tick of the scheduler",
          unit: "s",
          queries: quantiles("svc_schedule_tick_duration_seconds"),
        },
        {
          title: "Samples of the history",
          unit: "ops",
          queries: [
            {
              expr: `sum by (part, result) (${rate("svc_history_samples_total")})`,
              legend: "{{part}} {{result}}",
              mayBeEmpty: true,
            },
          ],
        },
        {
          title: "Console lines",
          unit: "ops",
          queries: [
            { expr: `sum(${rate("svc_console_lines_total")})`, legend: "published" },
            { expr: `sum(${rate("svc_console_lines_dropped_total")})`, legend: "dropped" },
          ],
        },
        { title: "Logs followed", queries: [{ expr: "sum(svc_console_follows)", legend: "logs" }] },
      ],
    },
  ],
};
