// The service's clock, for what counts down to a time that it names: a device may be minutes off.

/** Answers carry whole seconds and take a while; less is no difference. */
const ignoredMs = 3_000;

let offsetMs = 0;

export function noteServerTime(response: Response): void {
  const date = Date.parse(response.headers.get("date") ?? "");
  if (Number.isNaN(date)) return;
  const difference = date - Date.now();
  offsetMs = Math.abs(difference) > ignoredMs ? difference : 0;
}

/** Milliseconds that the service's clock is ahead of this device's. */
export function clockOffsetMs(): number {
  return offsetMs;
}
