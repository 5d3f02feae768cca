import { createHash } from 'node:crypto'
import type { BackupSecret } from '../ports/backup.ts'
import type { PackedFile } from './pack.ts'

/** A key: opening by a passphrase is slow on purpose. */
export const testKey: BackupSecret = {
  kind: 'key',
  key: createHash('sha256').update('a key of tests').digest(),
}

export async function* streamOf(...pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* pieces
}

export const gather = async (stream: AsyncIterable<Uint8Array>): Promise<Buffer> => {
  const pieces: Uint8Array[] = []
  for await (const piece of stream) pieces.push(piece)
  return Buffer.concat(pieces)
}

export async function* filesOf(
  files: readonly (readonly [path: string, text: string])[],
): AsyncGenerator<PackedFile> {
  for (const [path, text] of files) {
    const bytes = Buffer.from(text)
    yield { path, size: bytes.length, content: streamOf(bytes) }
  }
}

export const testManifest = {
  made_at: '2026-03-01T12:00:00.000Z',
  version: '1.2.3',
  node: 'node-000000000000',
  engine: 'sqlite',
  workspaces: false,
} as const
