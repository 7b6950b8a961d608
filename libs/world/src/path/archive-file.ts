/** What an archive is read from: a file, or the chunks that it consists of. `read` may return fewer bytes, never none before the end. */
export type ArchiveFile = AsyncDisposable & {
  stat: () => Promise<{ size: number }>;
  read: (buffer: Buffer, offset: number, length: number, position: number) => Promise<{ bytesRead: number }>;
  close: () => Promise<void>;
};
