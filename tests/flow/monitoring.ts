// What a Prometheus beside a stack must show, and what must reach the operators.

import assert from "node:assert/strict";
import { until } from "@svc/local-stack/testing";
import { dashboards } from "../../docs/generate/dashboards/all.ts";
import type { Prometheus } from "./prometheus.ts";
import type { StackFile } from "./stack.ts";

/** Runs every query of every dashboard: none fails, and those that need no rare event have data. */
export async function assertDashboards(prometheus: Prometheus): Promise<void> {
  const all = dashboards.flatMap(({ name, rows }) =>
    rows.flatMap(({ panels }) =>
      panels.flatMap(({ title, queries }) =>
        queries.map((query) => ({ ...query, panel: `${name}: ${title}` })),
      ),
    ),
  );
  assert.ok(all.length > 50);
  const findEmpty = async () => {
    const found: string[] = [];
    for (const { expr, panel, mayBeEmpty } of all) {
      const samples = await prometheus.query(expr.replaceAll("$__rate_interval", "5m"));
      if (samples.length === 0 && !mayBeEmpty) found.push(`${panel}: ${expr}`);
    }
    return found;
  };
  let empty = await findEmpty();
  const hasAll = async () => {
    empty = await findEmpty();
    return empty.length === 0;
  };
  // A process that stood still in another test is not scraped at once.
  if (empty.length > 0) await until(hasAll, 30_000).catch(() => undefined);
  assert.deepEqual(empty, []);
}

/** Stops the login gate until its alert has been mailed, and lets it go on until the end of the alert has. */
export async function assertAlertMails(prometheus: Prometheus, stack: StackFile): Promise<void> {
  const gate = stack.processes.find(({ name }) => name === "login-gate");
  assert.ok(gate);
  const firing = () => prometheus.query('ALERTS{alertname="LoginGateDown",alertstate="firing"}');
  await until(async () => (await firing()).length === 0, 30_000, "the login gate to be scraped");
  await prometheus.mail("LoginGateDown");
  const mailed = async (subject: RegExp) => {
    const answer = await fetch(new URL("/messages?to=ops@example.net", stack.mail.page));
    const mails = (await answer.json()) as { subject: string; html: string }[];
    return mails.find((mail) => subject.test(mail.subject));
  };
  process.kill(gate.pid, "SIGSTOP");
  try {
    const { html } = await until(
      () => mailed(/^\[FIRING:1\] LoginGateDown/),
      60_000,
      "the mail of the alert",
    );
    assert.match(html, /No login gate runs or is scraped; players who are not linked cannot join\./);
    assert.match(html, /Check the phase of its MinecraftServer/);
    assert.match(html, /docs\/reference\/login-gate\.md#health/);
  } finally {
    process.kill(gate.pid, "SIGCONT");
  }
  await until(() => mailed(/^\[RESOLVED\] LoginGateDown/), 60_000, "the mail of its end");
}
