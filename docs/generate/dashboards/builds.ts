import { type Dashboard, quantile, rate } from "./grafana.ts";

export const builds: Dashboard = {
  name: "builds",
  title: "Packs, builds and registry",
  rows: [
    {
      title: "Packs",
      panels: [
        {
          title: "By status",
          queries: [{ expr: "max by (status) (svc_submissions)", legend: "{{status}}" }],
        },
        {
          title: "Longest wait for a review",
          unit: "s",
          queries: [{ expr: "max(svc_submission_oldest_wait_seconds)", legend: "oldest" }],
        },
        {
          title: "Wait until a review, median",
          unit: "s",
          queries: [
            {
              expr: "histogram_quantile(0.5, sum by (result, le) (increase(svc_submission_review_wait_seconds_bucket[7d])))",
              legend: "{{result}}",
            },
          ],
        },
        {
          title: "Bytes kept",
          unit: "bytes",
          queries: [{ expr: "max(svc_submission_context_bytes)", legend: "contexts" }],
        },
        {
          title: "Bytes received",
          unit: "Bps",
          queries: [{ expr: `sum(${rate("svc_submission_upload_bytes_total")})`, legend: "contexts" }],
        },
        {
          title: "Mails to authors waiting",
          queries: [{ expr: "min(svc_submission_notices_waiting)", legend: "mails" }],
        },
      ],
    },
    {
      title: "Builds",
      panels: [
        {
          title: "Waiting and running",
          queries: [{ expr: "max by (status) (svc_image_builds)", legend: "{{status}}", mayBeEmpty: true }],
        },
        {
          title: "Ended in the last day",
          queries: [
            {
              expr: "sum by (result) (increase(svc_image_build_duration_seconds_count[1d]))",
              legend: "{{result}}",
              mayBeEmpty: true,
            },
          ],
        },
        {
          title: "Duration, p90",
          unit: "s",
          queries: [
            {
              expr: quantile(0.9, "svc_image_build_duration_seconds", ["result"]),
              legend: "{{result}}",
              mayBeEmpty: true,
            },
          ],
        },
        {
          title: "Lines left out of live logs",
          unit: "ops",
          queries: [{ expr: `sum(${rate("svc_image_build_log_dropped_lines_total")})`, legend: "lines" }],
        },
      ],
    },
    {
      title: "Registry",
      panels: [
        {
          title: "Requests passed on",
          unit: "reqps",
          queries: [
            {
              expr: `sum by (right, outcome) (${rate("svc_registry_gate_forwarded_total")})`,
              legend: "{{right}} {{outcome}}",
              mayBeEmpty: true,
            },
          ],
        },
        {
          title: "Requests refused",
          unit: "reqps",
          queries: [
            {
              expr: `sum by (code) (${rate("svc_registry_gate_refused_total")})`,
              legend: "{{code}}",
              mayBeEmpty: true,
            },
          ],
        },
        {
          title: "Read-only",
          kind: "stat",
          queries: [{ expr: "max(svc_registry_gate_read_only)", mayBeEmpty: true }],
        },
      ],
    },
  ],
};
