import { hash } from 'node:crypto'
import { basename, extname } from 'node:path'
import { GatehouseError } from '@gatehouse/contract'
import type { Files } from '../../ports/files.ts'
import type { WriteFile } from '../../ports/service-adapter.ts'

/** Of all that hangs on a mail; base64 makes a third more of it, and most servers stop at 25 MiB. */
export const attachedBytesMax = 15 * 1024 * 1024

const types: Readonly<Record<string, string>> = {
  '.csv': 'text/csv',
  '.gif': 'image/gif',
  '.html': 'text/html',
  '.ics': 'text/calendar',
  '.jpeg': 'image/jpeg',
  '.jpg': 'image/jpeg',
  '.json': 'application/json',
  '.md': 'text/markdown',
  '.pdf': 'application/pdf',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain',
  '.xml': 'application/xml',
  '.zip': 'application/zip',
}

/** A name that can stand in a header and be saved under anywhere. */
export const safeName = (name: string): string => {
  const plain = name
    .replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '')
    .replace(/[\\/"<>|:*?]/g, '_')
    .toWellFormed()
    .trim()
    .slice(0, 200)
  return plain === '' || /^\.+$/.test(plain) ? 'attachment' : plain
}

/**
 * Files of the agent, read as they are now: what is sent is what was read here.
 * @SECURITY A file is attached with all of its bytes or refused, before anybody is asked; mail-agent.test.ts.
 */
export const readAttachments = async (
  files: Files,
  paths: readonly string[],
): Promise<readonly WriteFile[]> => {
  const read: WriteFile[] = []
  let total = 0
  for (const path of paths) {
    const { bytes, size_bytes, truncated } = await files.read(path, { bytesMax: attachedBytesMax })
    if (truncated)
      throw new GatehouseError('FileTooLarge', { path, size_bytes, limit_bytes: attachedBytesMax })
    total += bytes.length
    if (total > attachedBytesMax)
      throw new GatehouseError('MailRefused', {
        detail: `the attachments have more than ${attachedBytesMax} bytes together, which is the most that is sent`,
      })
    const name = safeName(basename(path))
    const content_type = types[extname(name).toLowerCase()] ?? 'application/octet-stream'
    read.push({ name, content_type, bytes })
  }
  return read
}

export const sha256Of = ({ bytes }: Pick<WriteFile, 'bytes'>): string => hash('sha256', bytes)
