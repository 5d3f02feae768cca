// P9: start to ready, empty and with a million audit entries. P13: full verification of that log.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openAuditLog } from '../packages/server/dist/log/audit-log.js'
import { createClock } from '../packages/server/dist/platform/clock.js'
import { createIds } from '../packages/server/dist/platform/ids.js'
import { openSqlite } from '../packages/server/dist/storage/sqlite/open.js'
import { cli, median, startServer, temporaryFolder } from './lib.mjs'

const silent = { debug() {}, info() {}, warn() {}, error: console.error }

/** @returns {Parameters<Awaited<ReturnType<typeof openAuditLog>>['append']>[0]} */
const draft = (i) => ({
  kind: 'call',
  agent: `agent-${i % 20}`,
  capability: i % 3 === 0 ? 'filesystem.list' : 'filesystem.read',
  arguments: { path: `src/module-${i % 1_000}/file-${i}.ts`, encoding: 'utf-8' },
  result: i % 50 === 0 ? 'denied' : 'success',
  policy_decision: 'autonomous',
  actor: `agent:agent-${i % 20}`,
  session_id: null,
  request_id: `req-${i}`,
  rule: { layer: 'system', file: 'system.yaml', line: 12, match: 'filesystem.read' },
  duration_ms: i % 40,
  approval_id: null,
  intent_id: null,
  error: null,
  detail: null,
})

export const fill = async (folder, entries) => {
  const storage = await openSqlite({ file: join(folder, 'gatehouse.db') })
  const auditLog = await openAuditLog({
    storage,
    directory: join(folder, 'audit'),
    chain: readFileSync(join(folder, 'node-id'), 'utf8').trim(),
    ids: createIds(),
    clock: createClock(0),
    log: silent,
  })
  const startedAt = performance.now()
  for (let i = 0; i < entries; i += 512) {
    const count = Math.min(512, entries - i)
    await Promise.all(Array.from({ length: count }, (_, k) => auditLog.append(draft(i + k))))
  }
  const seconds = (performance.now() - startedAt) / 1_000
  await auditLog[Symbol.asyncDispose]()
  await storage[Symbol.asyncDispose]()
  return entries / seconds
}

const readyMs = async (folder, rounds) => {
  const samples = []
  for (let round = 0; round < rounds; round += 1) {
    const server = await startServer(folder)
    samples.push(server.readyMs)
    await server.stop()
  }
  return median(samples)
}

export const logOfAMillion = async ({ rounds, entries }) => {
  const { folder, remove } = temporaryFolder()
  try {
    await (await startServer(folder)).stop()
    const empty = await readyMs(folder, rounds)
    const appended = await fill(folder, entries)
    const large = await readyMs(folder, rounds)
    const samples = []
    for (let round = 0; round < rounds; round += 1) {
      const startedAt = performance.now()
      const { integrity } = JSON.parse(await cli(folder, 'audit', 'verify', '--json'))
      if (integrity !== 'verified') throw new Error(`the log is ${integrity}`)
      samples.push(entries / ((performance.now() - startedAt) / 1_000))
    }
    const row = (id, what, value, bar) => ({ id, what, value, yardstick: null, ratio: null, bar })
    const size = entries.toLocaleString('en')
    return [
      row('P9', 'start to ready, empty (ms)', empty, '≤ 1,500 ms'),
      row('P9', `start to ready, ${size} audit entries (ms)`, large, '≤ 2,000 ms'),
      row(
        'P13',
        `full verification of ${size} entries by the command, entries/s`,
        median(samples),
        '≥ 200,000',
      ),
      row('–', `entries/s appended while filling, groups of up to 64`, appended, '–'),
    ]
  } finally {
    remove()
  }
}
