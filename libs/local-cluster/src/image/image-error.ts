/** An image can't be had or can't be run; the message goes into the status of the container, for people to act on. */
export class ImageError extends Error {
  override name = "ImageError";
  /** True when the reference itself is wrong: Kubernetes then says `InvalidImageName`. */
  readonly isInvalidName: boolean;

  constructor(
    message: string,
    { isInvalidName = false, cause }: { isInvalidName?: boolean; cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? {} : { cause });
    this.isInvalidName = isInvalidName;
  }
}
