import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { openAuditLog } from '../../src/log/audit-log.ts'
import type { RetentionRules } from '../../src/log/retention.ts'
import { draft, HandClock, silent } from '../../src/log/testing.ts'
import { createIds } from '../../src/platform/ids.ts'
import type { Storage } from '../../src/ports/storage.ts'
import { openPostgres } from '../../src/storage/postgres/open.ts'

export const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-nodes-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export type More = {
  readonly retention?: RetentionRules
  readonly verifyEveryMs?: number
  readonly sharedKey?: () => string | null
  /** Of the store before the log is opened. */
  readonly change?: (storage: Storage) => void
}

/** The log of a node whose store is at that URL. */
export const openNodeAt = async (at: string, directory: string, chain: string, more: More = {}) => {
  const { retention, verifyEveryMs = 0, sharedKey = () => 'one key' } = more
  const clock = new HandClock()
  const storage = await openPostgres({ url: at })
  more.change?.(storage)
  const parts = { storage, directory, chain, ids: createIds(), clock, log: silent }
  const auditLog = await openAuditLog({
    ...{ ...parts, verifyEveryMs, sharedKey },
    ...(retention ? { retention } : {}),
  })
  return {
    auditLog,
    storage,
    clock,
    append: (agent: string) => auditLog.append(draft({ agent, capability: 'git.commit' })),
    async seen(filter: object = {}) {
      const page = await auditLog.query({ limit: 4, offset: 0, ...filter })
      return [page.total, ...page.entries.map((entry) => `${entry.chain} ${entry.seq}`)]
    },
    async [Symbol.asyncDispose]() {
      await auditLog[Symbol.asyncDispose]()
      await storage[Symbol.asyncDispose]()
    },
  }
}
