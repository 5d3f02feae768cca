import type { RepoPath } from '../ports/git.ts'

/** Splits what git ended with NUL; nothing follows the last one. */
export const fieldsOf = (output: Uint8Array): readonly Buffer[] => {
  const bytes = Buffer.from(output.buffer, output.byteOffset, output.byteLength)
  const fields: Buffer[] = []
  let from = 0
  for (let at = bytes.indexOf(0); at >= 0; at = bytes.indexOf(0, from)) {
    fields.push(bytes.subarray(from, at))
    from = at + 1
  }
  if (from < bytes.length) fields.push(bytes.subarray(from))
  return fields
}

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const lenient = new TextDecoder('utf-8', { ignoreBOM: true })

export const textOf = (bytes: Uint8Array): string => lenient.decode(bytes)

/** A name as text, and exactly where text cannot carry it. */
export const repoPath = (bytes: Buffer): RepoPath => {
  try {
    return { path: strict.decode(bytes) }
  } catch {
    return { path: textOf(bytes), path_base64: bytes.toString('base64') }
  }
}
