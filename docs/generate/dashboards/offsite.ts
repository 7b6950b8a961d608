import { age, type Dashboard } from "./grafana.ts";

const byKind = (gauge: string) => [
  { expr: `max by (kind) (${gauge})`, legend: "{{kind}}", mayBeEmpty: true },
];

export const offsite: Dashboard = {
  name: "offsite",
  title: "Off-site copies",
  rows: [
    {
      title: "Off-site copies",
      panels: [
        {
          title: "Since the last pass without a failure",
          unit: "s",
          kind: "stat",
          width: 6,
          queries: [{ expr: age("svc_offsite_last_success_timestamp_seconds"), mayBeEmpty: true }],
        },
        {
          title: "Since the last pass began",
          unit: "s",
          kind: "stat",
          width: 6,
          queries: [{ expr: age("svc_offsite_last_pass_timestamp_seconds"), mayBeEmpty: true }],
        },
        {
          title: "Failed in the last pass",
          kind: "stat",
          width: 6,
          queries: [{ expr: "max(svc_offsite_failed_objects)" }],
        },
        {
          title: "Damaged",
          kind: "stat",
          width: 6,
          queries: [{ expr: "max(svc_offsite_damaged_objects)" }],
        },
        { title: "Copies", queries: byKind("svc_offsite_objects") },
        { title: "Their size", unit: "bytes", queries: byKind("svc_offsite_bytes") },
        { title: "Without a copy", queries: byKind("svc_offsite_missing_objects") },
        { title: "Not whole", queries: byKind("svc_offsite_not_whole_objects") },
        {
          title: "State of the last pass",
          queries: [
            { expr: "max by (state) (svc_offsite_pass_state)", legend: "{{state}}", mayBeEmpty: true },
          ],
        },
      ],
    },
  ],
};
