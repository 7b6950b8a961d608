/** A place of the internal face as a Job reaches it. */
export function jobUrl(base: string, place: string): string {
  return `${base.replace(/\/+$/, "")}/api/v1/internal/${place}`;
}
