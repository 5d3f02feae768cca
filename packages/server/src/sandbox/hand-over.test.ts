import {
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { handOver } from './hand-over.ts'

const user = { uid: 60_777, gid: 60_777, name: 'test' }

// Only root can give a file to somebody else.
test.runIf(process.getuid?.() === 0)(
  'a folder passes to its new owner whole, and nothing that a link leads to',
  async () => {
    const base = mkdtempSync(join(tmpdir(), 'gatehouse-hand-over-'))
    onTestFinished(() => rmSync(base, { recursive: true }))
    const folder = join(base, 'workspace')
    mkdirSync(join(folder, 'deep/er'), { recursive: true })
    mkdirSync(join(base, 'outside'))
    for (const file of ['outside/a', 'outside/b', 'workspace/a', 'workspace/deep/er/b'])
      writeFileSync(join(base, file), 'x')
    symlinkSync(join(base, 'outside'), join(folder, 'to-folder'))
    symlinkSync(join(base, 'outside/a'), join(folder, 'to-file'))
    linkSync(join(base, 'outside/b'), join(folder, 'hard'))
    await handOver(folder, user)
    const ownerOf = (path: string) => lstatSync(join(base, path)).uid
    for (const path of ['', '/a', '/deep', '/deep/er', '/deep/er/b', '/to-folder', '/to-file'])
      expect([path, ownerOf(`workspace${path}`)]).toEqual([path, user.uid])
    for (const path of ['outside', 'outside/a', 'outside/b', 'workspace/hard'])
      expect([path, ownerOf(path)]).toEqual([path, 0])
  },
)
