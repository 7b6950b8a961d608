// Where queues of uploads are kept between two loads of a page. They name files of the person.

export const keptPrefix = "svc.uploads.";

const keptKeys = () => Object.keys(localStorage).filter((key) => key.startsWith(keptPrefix));

/** Whether uploads of any tab have not come to their end. */
export function hasKeptUploads(): boolean {
  return keptKeys().length > 0;
}

/** Removes the queues of everybody, or of everybody else. */
export function forgetKeptUploads(except?: string): void {
  for (const key of keptKeys())
    if (except === undefined || !key.startsWith(except)) localStorage.removeItem(key);
}
