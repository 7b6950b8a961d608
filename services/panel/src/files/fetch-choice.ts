// What can be fetched from an address, and under which name (docs/reference/files.md#fetch). Pure.

import { isFileName } from "./path.ts";

type FetchChoice = { url: string; name: string; sha256: string };

/** The name that is proposed for the file of an address; empty when it has none. */
export function fetchedNameOf(url: string): string {
  if (!isAddress(url)) return "";
  const last = new URL(url).pathname.split("/").at(-1) ?? "";
  try {
    const name = decodeURIComponent(last);
    return isFileName(name) ? name : "";
  } catch {
    return "";
  }
}

/** The field with which nothing can be fetched; undefined when it can. */
export function whyNoFetch({ url, name, sha256 }: FetchChoice): "url" | "name" | "sha256" | undefined {
  if (!isAddress(url)) return "url";
  if (!isFileName(name)) return "name";
  return sha256 === "" || /^[0-9a-f]{64}$/i.test(sha256.trim()) ? undefined : "sha256";
}

function isAddress(url: string): boolean {
  return /^https?:\/\//i.test(url) && URL.canParse(url);
}
