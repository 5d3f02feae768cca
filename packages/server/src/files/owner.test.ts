import {
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createFilesFactory } from './create-files-factory.ts'

const fakes = {
  ids: { next: (prefix: string) => `${prefix}-x`, secret: () => Buffer.alloc(32) },
  clock: { wall: () => 0, now: () => 0 },
}
const bytes = Buffer.from('text')
const owner = 60_777

// Only root can give a file to somebody else.
test.runIf(process.getuid?.() === 0)(
  'what a service of root makes belongs to whoever owns the folder, also below new folders',
  async () => {
    const workspace = mkdtempSync(join(tmpdir(), 'gatehouse-owner-'))
    onTestFinished(() => rmSync(workspace, { recursive: true }))
    mkdirSync(join(workspace, 'tree/below'), { recursive: true })
    for (const name of ['old', 'tree/a', 'tree/below/b']) writeFileSync(join(workspace, name), 'x')
    chownSync(workspace, owner, owner)
    const descriptors = () => readdirSync('/proc/self/fd').length
    const before = descriptors()
    const factory = createFilesFactory(fakes)
    const files = factory.open({ name: 'alpha', workspace, mounts: [] })
    await files.write('written', bytes, { createParents: false })
    await files.write('deep/er/written', bytes, { createParents: true })
    await files.write('old', bytes, { createParents: false })
    await files.append('appended', bytes)
    await files.makeDirectory('made/too', { parents: true })
    await files.copy('written', 'copied', { overwrite: false })
    await files.copy('tree', 'tree2', { overwrite: false })
    const made = [
      'written',
      'deep',
      'deep/er',
      'deep/er/written',
      'old',
      'appended',
      'made',
      'made/too',
    ]
    for (const name of [...made, 'copied', 'tree2', 'tree2/a', 'tree2/below', 'tree2/below/b'])
      expect([name, lstatSync(join(workspace, name)).uid]).toEqual([name, owner])
    factory[Symbol.dispose]()
    await expect.poll(descriptors).toBeLessThanOrEqual(before)
  },
)

test.runIf(process.getuid?.() === 0)(
  'in a folder of root it stays with root, and its group too',
  async () => {
    const workspace = mkdtempSync(join(tmpdir(), 'gatehouse-owner-'))
    chownSync(workspace, 0, owner)
    onTestFinished(() => rmSync(workspace, { recursive: true }))
    using factory = createFilesFactory(fakes)
    const files = factory.open({ name: 'alpha', workspace, mounts: [] })
    await files.write('written', bytes, { createParents: false })
    const { uid, gid } = lstatSync(join(workspace, 'written'))
    expect([uid, gid]).toEqual([0, process.getgid?.()])
  },
)
