/** URL of a resource of the internal face, as Jobs reach it. */
export function jobUrl(base: string, place: string): string {
  return `${base.replace(/\/+$/, "")}/api/v1/internal/${place}`;
}
