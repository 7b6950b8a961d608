import { type Dashboard, rate } from "./grafana.ts";

/** Of each process, with the name of its component. */
const perProcess = (value: string) =>
  `sum by (component, instance) (${value} * on (job, instance) group_left (component) svc_build_info)`;
const legend = "{{component}} {{instance}}";

export const mesh: Dashboard = {
  name: "mesh",
  title: "Mesh, database and processes",
  rows: [
    {
      title: "Requests between services",
      panels: [
        {
          title: "By outcome",
          unit: "reqps",
          queries: [{ expr: `sum by (outcome) (${rate("svc_mesh_served_total")})`, legend: "{{outcome}}" }],
        },
        {
          title: "The ten busiest subjects",
          unit: "reqps",
          queries: [
            {
              expr: `topk(10, sum by (subject) (${rate("svc_mesh_served_total")}))`,
              legend: "{{subject}}",
            },
          ],
        },
        {
          title: "In progress",
          queries: [
            { expr: "topk(10, sum by (subject) (svc_mesh_served_in_flight))", legend: "{{subject}}" },
          ],
        },
        {
          title: "Faults seen by callers",
          unit: "reqps",
          queries: [
            {
              expr: `sum by (outcome) (${rate('svc_mesh_calls_total{outcome!="ok"}')})`,
              legend: "{{outcome}}",
              mayBeEmpty: true,
            },
          ],
        },
      ],
    },
    {
      title: "Messages",
      panels: [
        {
          title: "Redelivered in the last hour",
          queries: [
            { expr: "sum by (durable) (increase(svc_mesh_redeliveries_total[1h]))", legend: "{{durable}}" },
          ],
        },
        {
          title: "Given up in the last day",
          queries: [
            { expr: "sum by (durable) (increase(svc_mesh_dead_letters_total[1d]))", legend: "{{durable}}" },
          ],
        },
        { title: "Reconnects", queries: [{ expr: perProcess("svc_mesh_reconnects"), legend }] },
        {
          title: "From callers and publishers that may not",
          queries: [
            {
              expr: "sum by (subject) (svc_mesh_refused_requests_total)",
              legend: "{{subject}}",
              mayBeEmpty: true,
            },
            {
              expr: "sum by (stream) (svc_mesh_foreign_messages_total)",
              legend: "{{stream}}",
              mayBeEmpty: true,
            },
          ],
        },
        {
          title: "Faults that no contract declares",
          queries: [
            {
              expr: "sum by (operation, fault) (svc_undeclared_faults_total)",
              legend: "{{operation}} {{fault}}",
              mayBeEmpty: true,
            },
          ],
        },
        {
          title: "Audit entries lost in the last day",
          queries: [{ expr: "sum(increase(svc_audit_write_failures_total[1d]))", legend: "entries" }],
        },
      ],
    },
    {
      title: "Database",
      panels: [
        {
          title: "Busy connections",
          queries: [{ expr: perProcess('svc_database_connections{state="busy"}'), legend }],
        },
        { title: "Statements waiting", queries: [{ expr: perProcess("svc_database_waiting"), legend }] },
        {
          title: "Events not published yet",
          queries: [{ expr: perProcess("svc_outbox_waiting"), legend }],
        },
      ],
    },
    {
      title: "Processes",
      panels: [
        {
          title: "Processor",
          unit: "percentunit",
          queries: [{ expr: perProcess(rate("process_cpu_seconds_total")), legend }],
        },
        {
          title: "Busy event loop",
          unit: "percentunit",
          queries: [{ expr: perProcess("nodejs_eventloop_utilization_ratio"), legend }],
        },
        {
          title: "Memory",
          unit: "bytes",
          queries: [{ expr: perProcess("process_resident_memory_bytes"), legend }],
        },
        {
          title: "JavaScript heap",
          unit: "bytes",
          queries: [{ expr: perProcess("nodejs_heap_size_used_bytes"), legend }],
        },
        { title: "Open files", queries: [{ expr: perProcess("process_open_fds"), legend }] },
        {
          title: "Starts in the last day",
          queries: [{ expr: perProcess("changes(process_start_time_seconds[1d])"), legend }],
        },
      ],
    },
  ],
};
