import {
  closeSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openAuditLog } from '../../src/log/audit-log.ts'
import { segmentsFolder } from '../../src/log/log-files.ts'
import { draft, silent } from '../../src/log/testing.ts'
import { createClock } from '../../src/platform/clock.ts'
import { createIds } from '../../src/platform/ids.ts'
import { openSqlite } from '../../src/storage/sqlite/open.ts'

const openLog = async (folder: string) => {
  const storage = await openSqlite({ file: join(folder, 'gatehouse.db') })
  const auditLog = await openAuditLog({
    storage,
    directory: join(folder, 'audit'),
    chain: 'node-1',
    ids: createIds(),
    clock: createClock(0),
    log: silent,
  })
  return {
    auditLog,
    async [Symbol.asyncDispose]() {
      await auditLog[Symbol.asyncDispose]()
      await storage[Symbol.asyncDispose]()
    },
  }
}

/** Changes one letter of a text wherever the log has it, and says in how many places that was. */
const flip = (folder: string, text: string): number => {
  let places = 0
  const segments = join(folder, 'audit', segmentsFolder)
  for (const name of readdirSync(segments)) {
    const file = join(segments, name)
    const bytes = readFileSync(file)
    for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1)) {
      const descriptor = openSync(file, 'r+')
      writeSync(descriptor, 'X', at)
      closeSync(descriptor)
      places += 1
    }
  }
  return places
}

test.each([0, 150, 299])(
  'a byte flipped under a running service (entry %i) shows on the next query',
  async (n) => {
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-bytes-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    await using log = await openLog(folder)
    for (let i = 0; i < 300; i += 1)
      await log.auditLog.append(
        draft({ arguments: { path: `marker-${String(i).padStart(4, '0')}-end` } }),
      )
    const filter = { limit: 10, offset: 0 }
    expect((await log.auditLog.query(filter)).integrity).toBe('verified')
    // One tick of the file system's clock, so that the change has a time of its own.
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(flip(folder, `marker-${String(n).padStart(4, '0')}-end`)).toBeGreaterThan(0)
    const page = await log.auditLog.query(filter)
    expect(page).toMatchObject({ integrity: 'failed', first_bad_seq: n })
  },
)
