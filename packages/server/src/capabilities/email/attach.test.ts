import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createFilesFactory } from '../../files/create-files-factory.ts'
import { attachedBytesMax, readAttachments } from './attach.ts'

/** A workspace with files of these sizes. */
const holding = (sizes: Readonly<Record<string, number>>) => {
  const workspace = mkdtempSync(join(tmpdir(), 'gatehouse-attach-'))
  onTestFinished(() => rmSync(workspace, { recursive: true, force: true }))
  for (const [name, size] of Object.entries(sizes)) {
    writeFileSync(join(workspace, name), '')
    truncateSync(join(workspace, name), size)
  }
  const ids = { next: (prefix: string) => `${prefix}-1`, secret: () => Buffer.alloc(32) }
  const clock = {
    wall: () => 0,
    now: () => 0,
    sleep: async () => {},
    after: () => ({ [Symbol.dispose]: () => {} }),
  }
  return createFilesFactory({ ids, clock }).open({ name: 'alpha', workspace, mounts: [] })
}

test('a file that fits is attached with all of its bytes', async () => {
  const files = holding({ 'most.bin': attachedBytesMax })
  const [read] = await readAttachments(files, ['most.bin'])
  expect(read?.bytes.length).toBe(attachedBytesMax)
})

test('a file that does not fit is refused with the size that would, and never cut', async () => {
  const files = holding({ 'large.bin': attachedBytesMax + 1 })
  await expect(readAttachments(files, ['large.bin'])).rejects.toMatchObject({
    type: 'FileTooLarge',
    message: expect.stringContaining(String(attachedBytesMax)) as string,
  })
})

test('files that do not fit together are refused with the size that would', async () => {
  const files = holding({ 'half.bin': attachedBytesMax / 2 + 1 })
  await expect(readAttachments(files, ['half.bin', 'half.bin'])).rejects.toMatchObject({
    type: 'MailRefused',
    message: expect.stringContaining(String(attachedBytesMax)) as string,
  })
})
