// Dashboards as data, and the JSON model of Grafana that they become.

/** Units as Grafana names them. */
type Unit = "short" | "s" | "bytes" | "Bps" | "reqps" | "ops" | "percentunit" | "dateTimeFromNow";

type Query = {
  expr: string;
  /** Template of the name of a line; `{{label}}` is replaced. */
  legend?: string;
  /** Has no series until something happened that may never happen. */
  mayBeEmpty?: boolean;
};

type Panel = {
  title: string;
  unit?: Unit;
  /** A line over time unless it says otherwise; `stat` shows the last value. */
  kind?: "timeseries" | "stat";
  queries: readonly Query[];
  /** Of 24 columns; 8 unless it says otherwise. */
  width?: 4 | 6 | 8 | 12 | 24;
};

export type Dashboard = {
  /** Of its file and of its address. */
  name: string;
  title: string;
  rows: readonly { title: string; panels: readonly Panel[] }[];
};

const columns = 24;
// biome-ignore lint/suspicious/noTemplateCurlyInString: Grafana fills it in.
const source = { type: "prometheus", uid: "${datasource}" };

/** Text of the file that Grafana imports. */
export function toGrafana({ name, title, rows }: Dashboard): string {
  const model = {
    uid: `svc-${name}`,
    title: `svc: ${title}`,
    tags: ["svc"],
    schemaVersion: 39,
    editable: true,
    refresh: "30s",
    time: { from: "now-6h", to: "now" },
    links: [{ type: "dashboards", title: "svc", tags: ["svc"], asDropdown: true, keepTime: true }],
    templating: {
      list: [{ name: "datasource", label: "Prometheus", type: "datasource", query: "prometheus" }],
    },
    panels: placed(rows),
  };
  return `${JSON.stringify(model, undefined, 2)}\n`;
}

function placed(rows: Dashboard["rows"]): object[] {
  const panels: object[] = [];
  let y = 0;
  for (const { title, panels: own } of rows) {
    panels.push(rowOf(title, { id: panels.length + 1, y }));
    y += 1;
    let x = 0;
    let height = 0;
    for (const panel of own) {
      const w = panel.width ?? 8;
      if (x + w > columns) {
        y += height;
        x = 0;
        height = 0;
      }
      const h = panel.kind === "stat" ? 4 : 8;
      panels.push(panelOf(panel, { id: panels.length + 1, gridPos: { x, y, w, h } }));
      x += w;
      height = Math.max(height, h);
    }
    y += height;
  }
  return panels;
}

function rowOf(title: string, { id, y }: { id: number; y: number }): object {
  return { id, type: "row", title, collapsed: false, gridPos: { x: 0, y, w: columns, h: 1 }, panels: [] };
}

function panelOf({ title, unit = "short", kind = "timeseries", queries }: Panel, place: object): object {
  const isStat = kind === "stat";
  return {
    ...place,
    type: kind,
    title,
    datasource: source,
    fieldConfig: { defaults: { unit, min: unit === "dateTimeFromNow" ? undefined : 0 }, overrides: [] },
    options: isStat
      ? { reduceOptions: { calcs: ["lastNotNull"], values: false }, colorMode: "none" }
      : { legend: { displayMode: "list", placement: "bottom" }, tooltip: { mode: "multi", sort: "desc" } },
    targets: queries.map(({ expr, legend }, index) => ({
      refId: String.fromCharCode(65 + index),
      datasource: source,
      expr,
      legendFormat: legend ?? "__auto",
      instant: isStat,
      range: !isStat,
    })),
  };
}

/** Rate of a counter over the interval that Grafana chooses for the range shown. */
export const rate = (series: string) => `rate(${series}[$__rate_interval])`;

/** A quantile of a histogram; `by` are the labels that stay. */
export function quantile(q: number, histogram: string, by: readonly string[] = []): string {
  return `histogram_quantile(${q}, sum by (${[...by, "le"].join(", ")}) (${rate(`${histogram}_bucket`)}))`;
}

/** Lines of the median and of the slow end of a histogram. */
export function quantiles(histogram: string): Query[] {
  return [0.5, 0.9, 0.99].map((q) => ({ expr: quantile(q, histogram), legend: `p${q * 100}` }));
}

/** Seconds since a time that a gauge holds; nothing while it is 0. */
export const age = (gauge: string) => `time() - (max(${gauge}) > 0)`;
