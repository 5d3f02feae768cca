import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { HttpGate } from '@gatehouse/testkit/caldav-server/http-gate'
import { Radicale } from '@gatehouse/testkit/caldav-server/radicale'
import { hasProgram } from '@gatehouse/testkit/programs'
import { until } from '@gatehouse/testkit/until'
import { expect, test } from 'vitest'
import { createCalendarAdapter } from '../../src/proxy/adapters/calendar/calendar-adapter.ts'
import { calendarConnect } from './calendar-writes.ts'
import { bundle, start } from './kill-kit.ts'
import { openNode } from './node.ts'

const kills = process.env['GATEHOUSE_FULL'] ? 100 : 2

test.skipIf(!hasProgram('radicale'))(
  'however often the service is killed, each event is created once and none is lost',
  {
    timeout: 240_000 + kills * 15_000,
  },
  async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'gatehouse-calendar-kill-'))
    await using server = await Radicale.start()
    await using gate = await HttpGate.open(server.port)
    const calendar = server.calendar('kill')
    const program = await bundle('calendar-kill-child.ts')
    const buffered = new Map<string, string>()
    let puts = 0
    gate.decide = ({ method }) => {
      if (method !== 'PUT') return null
      puts += 1
      // Some answers never come, besides what the kills cut off.
      return puts % 7 === 0 ? { kind: 'cut', when: 'after' } : null
    }
    try {
      for (let run = 0; run < kills; run += 1) {
        const child = start(program, [folder, gate.url, String(run)])
        await child.loaded
        child.go()
        const before = puts
        await until(() => child.ids.size >= 3 && puts > before)
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 60))
        await child.kill()
        for (const [id, uid] of child.ids) buffered.set(id, uid)
      }
      const connect = calendarConnect(gate.url)
      await using node = await openNode(folder, { adapter: createCalendarAdapter(), connect })
      const pending = { statuses: ['buffered', 'executing'], limit: 1, offset: 0 } as const
      await until(async () => (await node.storage.writes.list(pending)).total === 0)
      const { writes } = await node.storage.writes.list({ limit: 1_000, offset: 0 })
      expect(writes.filter(({ status }) => status !== 'executed')).toEqual([])
      const there = Object.keys(calendar.list()).map((name) => name.replace('.ics', ''))
      expect(there.length).toBe(writes.length)
      for (const [id, uid] of buffered) {
        expect(writes.some((write) => write.id === id)).toBe(true)
        expect(there.filter((one) => one === uid)).toHaveLength(1)
      }
      // Each that arrived was let in once: a repeated one is told that it is there.
      for (const uid of there) {
        const taken = gate.replies.filter(
          ({ method, path: at, status }) =>
            method === 'PUT' && at.endsWith(`/${uid}.ics`) && status < 300,
        )
        expect(taken, uid).toHaveLength(1)
      }
      expect(buffered.size).toBeGreaterThanOrEqual(kills * 3)
    } finally {
      rmSync(folder, { recursive: true, force: true })
      rmSync(path.dirname(program), { recursive: true, force: true })
    }
  },
)
