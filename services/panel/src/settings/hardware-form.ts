// What the form of memory and processor sends.

type HardwareForm = { memory: string; cpu: string };
type HardwareChanges = { memory?: string; resources?: { cpu: string } };

/** Whether a text can be an amount above zero as the cluster writes it, such as `2Gi`, `1500m` or `0.5`. */
export function isQuantity(text: string): boolean {
  return /^\d{1,12}(\.\d{1,6})?(m|k|M|G|T|Ki|Mi|Gi|Ti)?$/.test(text) && Number.parseFloat(text) > 0;
}

/** What differs; an emptied processor has no limit any more. Nothing to send: undefined. */
export function hardwareChanges(before: HardwareForm, form: HardwareForm): HardwareChanges | undefined {
  const changes = {
    ...(form.memory !== before.memory && { memory: form.memory }),
    ...(form.cpu !== before.cpu && { resources: { cpu: form.cpu } }),
  };
  return Object.keys(changes).length === 0 ? undefined : changes;
}
