/** Key of a backup: something a person remembers, or 32 bytes from a file. */
export type BackupSecret =
  | { readonly kind: 'passphrase'; readonly passphrase: string }
  | { readonly kind: 'key'; readonly key: Uint8Array }

export interface BackupSnapshot {
  /** Must yield one encrypted file, whose parts belong to one moment of the log. */
  stream(options: {
    readonly secret: BackupSecret
    readonly withWorkspaces: boolean
    readonly signal: AbortSignal
  }): AsyncIterable<Uint8Array>

  /** Must remove what it holds; after `stream` has ended, or in its place. */
  release(): void
}

export interface Backups {
  /**
   * Must take a copy of keys and signed head of the log, at once: it is called while nothing else can be
   * recorded. The database is copied later, by `stream`; it may then hold more than the copied head covers, never less.
   */
  snapshot(): BackupSnapshot
}
