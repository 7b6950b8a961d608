/** RFC 3339 in whole seconds, as Kubernetes writes times (metav1.Time). */
export function timeText(at: Date | number = Date.now()): string {
  return new Date(at).toISOString().replace(/\.\d+Z$/, "Z");
}
