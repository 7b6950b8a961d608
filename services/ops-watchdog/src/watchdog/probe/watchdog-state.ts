// The watchdog about itself: state files that were put aside.

import { finding } from "../finding.ts";
import type { StateFile } from "../state-file.ts";
import type { Probe } from "./probe.ts";

const shownMs = 86_400_000;

export function watchdogState(file: Pick<StateFile, "check" | "listUnreadable">): Probe {
  return {
    prefixes: ["watchdog/state"],
    look: async ({ now }) => {
      const problem = await file.check();
      const recent = (await file.listUnreadable()).filter((at) => now - at < shownMs);
      return {
        findings: [
          ...(problem === undefined ? [] : [stateUnwritable(problem)]),
          ...recent.map((at) => stateUnreadable(at)),
        ],
      };
    },
  };
}

function stateUnreadable(at: number) {
  return finding(
    {
      ...{ key: `watchdog/state-unreadable-${at / 1_000}`, severity: "warning", event: true },
      hint: {
        en: "Check the disk of ops_watchdog.state_dir; what was known of alerts and silences began anew.",
        zh: "请检查 ops_watchdog.state_dir 所在磁盘；警报和静默记录已重新开始。",
      },
    },
    {
      en: "The state of the watchdog could not be read and was put aside.",
      zh: "监视程序的状态文件无法读取，已另存。",
    },
  );
}

function stateUnwritable(why: string) {
  return finding(
    {
      ...{ key: "watchdog/state", severity: "warning", forMinutes: 10 },
      hint: {
        en: "Check the disk of ops_watchdog.state_dir; the state is kept in memory until then.",
        zh: "请检查 ops_watchdog.state_dir 所在磁盘；在此之前状态保存在内存中。",
      },
    },
    { en: "The watchdog cannot write its state: {why}", zh: "监视程序无法写入状态：{why}" },
    { why },
  );
}

export function runFailed(why: string) {
  return finding(
    {
      ...{ key: "watchdog/run", severity: "critical", forMinutes: 10 },
      hint: {
        en: "The log of ops-watchdog has more; `svc watchdog --dry-run` makes one run by hand.",
        zh: "更多信息见 ops-watchdog 的日志；`svc watchdog --dry-run` 可手动运行一次。",
      },
    },
    { en: "The watchdog itself fails: {why}", zh: "监视程序自身运行失败：{why}" },
    { why },
  );
}
