/** An image cannot be pulled or run; the message is shown in the status of the container. */
export class ImageError extends Error {
  override name = "ImageError";
  /** True when the reference itself is invalid: reason `InvalidImageName` in Kubernetes. */
  readonly isInvalidName: boolean;

  constructor(
    message: string,
    { isInvalidName = false, cause }: { isInvalidName?: boolean; cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? {} : { cause });
    this.isInvalidName = isInvalidName;
  }
}
