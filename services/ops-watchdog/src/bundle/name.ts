// Names of bundles: `db-<UTC yyyymmddThhmmssZ>-<label>.tar` (docs/reference/database-backups.md#format).

import { databaseBackups } from "@svc/proto";

export const labels = databaseBackups.BundleLabel.options;

export type BundleName = { name: string; label: databaseBackups.BundleLabel; takenAt: Date };

const shape = /^db-(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})Z-([a-z-]{1,16})\.tar$/;

/** Undefined for every other file. */
export function parseBundleName(name: string): BundleName | undefined {
  const [, year, month, day, hour, minute, second, word] = shape.exec(name) ?? [];
  const label = labels.find((one) => one === word);
  const takenAt = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return label && !Number.isNaN(takenAt.getTime()) ? { name, label, takenAt } : undefined;
}

export function bundleName(label: databaseBackups.BundleLabel, takenAt: Date): string {
  const stamp = `${takenAt.toISOString().slice(0, 19).replaceAll(/[-:]/g, "")}Z`;
  return `db-${stamp}-${label}.tar`;
}
