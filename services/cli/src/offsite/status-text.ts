// What is known of off-site copies, in lines. Pure.

import type { offsites } from "@svc/proto";
import { sizeText } from "../output.ts";
import { progressText } from "./progress.ts";

export type Status = offsites.OffsiteStatus;

/** 3 for a wrong key, 1 when somebody should look, else 0. */
export function exitCodeOf(status: Status): 0 | 1 | 3 {
  const state = status.last?.state;
  if (state === "wrong_key") return 3;
  const lacks = [...status.kinds, ...[status.wal?.copies ?? []].flat()].some(
    ({ missing_count, not_whole_count }) => missing_count + not_whole_count > 0,
  );
  const isStale = status.stale || status.wal?.stale === true;
  const isBad = isStale || lacks || state === "standby" || (status.damaged?.length ?? 0) > 0;
  return isBad ? 1 : 0;
}

export function statusText(status: Status): string {
  if (!status.configured) return "Off-site copies are off: offsite.bucket is empty.";
  return [
    ...headLines(status),
    ...passLines(status),
    ...status.kinds.flatMap(({ kind, packed, ...copies }) => [
      ...copyLines(kind, copies),
      ...(packed ? [packedLine(packed)] : []),
    ]),
    ...walLines(status),
    ...(status.verified_at === undefined ? [] : [`verified  ${status.verified_at}`]),
    ...(status.damaged ?? []).map((key) => `damaged: ${key}`),
  ].join("\n");
}

const packsText = {
  on: "deduplicated archives are copied as packs",
  locked: "copies are whole although offsite.packs is on: a lock on objects would end too early for packs",
};

function headLines({ bucket, endpoint, prefix, key_id, writer, store, packs }: Status): string[] {
  const place = `${endpoint ?? "AWS"} ${bucket}${prefix === undefined ? "" : `/${prefix}`}`;
  const who =
    writer && `${writer.name}${writer.is_this_host ? " (this host)" : ""}, last at ${writer.last_run_at}`;
  return [
    `bucket    ${place}`,
    ...(key_id === undefined ? [] : [`key       ${key_id}`]),
    ...(who === undefined ? [] : [`writer    ${who}`]),
    ...(store ? [`store     ${storeText(store)}`] : []),
    ...(packs ? [`packs     ${packsText[packs]}`] : []),
  ];
}

function storeText({
  conditional_put,
  versioning,
  object_lock,
  object_lock_days,
  clock_ahead_seconds,
}: offsites.OffsiteStore): string {
  const days = object_lock_days === undefined ? "" : ` for ${object_lock_days} days`;
  return [
    conditional_put ? "keeps two writers apart" : "cannot keep two writers apart",
    versioning === "enabled" ? "keeps versions" : `versions ${versioning}`,
    `object lock ${object_lock}${days}`,
    ...(clock_ahead_seconds === undefined ? [] : [clockText(clock_ahead_seconds)]),
  ].join(", ");
}

function clockText(aheadSeconds: number): string {
  const minutes = Math.round(Math.abs(aheadSeconds) / 60);
  return `its clock is ${minutes} min ${aheadSeconds > 0 ? "ahead of" : "behind"} this host's`;
}

function passLines({ last, last_completed_at, stale, max_age_seconds }: Status): string[] {
  const newest = last
    ? `last pass ${last.state.replace("_", " ")}, begun ${last.started_at}: ${last.sent} sent (${sizeText(last.sent_bytes)}), ${last.deleted} deleted, ${last.failed} failed`
    : "last pass none";
  return [
    newest,
    ...(last?.progress ? [`running   ${progressText(last.progress)}`] : []),
    ...(last?.error === undefined ? [] : [`          ${last.error}`]),
    ...(last?.failures ?? []).map(({ key, error }) => `failed: ${key}: ${error}`),
    `completed ${completedText(last_completed_at, stale ? max_age_seconds / 3_600 : undefined)}`,
  ];
}

function completedText(at: string | undefined, staleHours: number | undefined): string {
  if (at === undefined) return "never";
  return staleHours === undefined ? at : `${at}; that is more than ${staleHours} hours ago`;
}

function copyLines(name: string, copies: offsites.OffsiteCopies): string[] {
  return [
    `${name.padEnd(9)} ${copies.objects} objects, ${sizeText(copies.bytes)}`,
    ...copies.missing.map((key) => `missing: ${key}`),
    ...more("missing", copies.missing_count - copies.missing.length),
    ...copies.not_whole.map((key) => `not whole: ${key}`),
    ...more("not whole", copies.not_whole_count - copies.not_whole.length),
  ];
}

function packedLine({ copies, whole_bytes, packs, bytes }: offsites.OffsitePacked): string {
  const saved = whole_bytes - bytes;
  const text = `in packs  ${copies} archives in ${packs} packs, ${sizeText(bytes)}`;
  return saved > 0 ? `${text} instead of ${sizeText(whole_bytes)}: ${sizeText(saved)} saved` : text;
}

export type WorldCounts = { whole: number; in_packs: number; packs: number };

/** How archives lie in the bucket: as whole objects, or as a manifest that names packs. */
export function worldsLines(about: string, { whole, in_packs, packs }: WorldCounts): string[] {
  if (whole + in_packs + packs === 0) return [];
  const packed = in_packs + packs === 0 ? "" : `, ${in_packs} archives in packs, ${packs} packs`;
  return [`${about}: ${whole} whole archives${packed}.`];
}

function walLines({ wal }: Status): string[] {
  if (!wal) return [];
  const copies = wal.copies ? copyLines("wal", wal.copies) : [];
  if (wal.covered_until === undefined) return [...copies, "covered   no point in time yet"];
  const late = wal.stale ? "; nothing newer was copied" : "";
  return [...copies, `covered   from ${wal.covered_from} until ${wal.covered_until}${late}`];
}

function more(word: string, count: number): string[] {
  return count > 0 ? [`${word}: ${count} more`] : [];
}
