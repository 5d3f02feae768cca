import type { StoredProcess } from '@gatehouse/server/ports/process-store'
import { describe, expect, test } from 'vitest'
import type { Open } from './opened.ts'
import { awkwardText, largest, newYear } from './samples.ts'

const processOf = (id: string, over: Partial<StoredProcess> = {}): StoredProcess => ({
  id,
  agent: 'mailbot',
  node: 'n1',
  command: 'make',
  args_json: '["all"]',
  working_directory: '/work',
  network_json: '[]',
  sandbox: 'bubblewrap',
  state: 'running',
  exit_code: null,
  signal: null,
  detail: null,
  stdout_bytes: 0,
  stderr_bytes: 0,
  cpu_ms: null,
  memory_bytes_max: null,
  started_ms: newYear,
  ended_ms: null,
  ...over,
})
const ended = { state: 'completed', exit_code: 0, ended_ms: newYear } as const

export const processMusts = (open: Open): void => {
  describe('processes', () => {
    test('come back exactly as they were stored', async () => {
      await using opened = await open()
      const process = processOf('proc-1', {
        command: awkwardText,
        args_json: awkwardText,
        working_directory: awkwardText,
        network_json: awkwardText,
        detail: awkwardText,
        stdout_bytes: largest,
        memory_bytes_max: largest,
      })
      await opened.storage.processes.insert(process)
      const { processes } = await opened.reopen()
      expect(await processes.find('proc-1')).toEqual(process)
      expect(await processes.find('PROC-1')).toBeNull()
      await expect(processes.insert(process)).rejects.toMatchObject({ type: 'Conflict' })
    })

    test('end once, and who started what stays', async () => {
      await using opened = await open()
      const { processes } = opened.storage
      const process = processOf('proc-1')
      await processes.insert(process)
      const running = { ...process, sandbox: 'landlock', working_directory: '/elsewhere' }
      expect(await processes.update({ ...running, agent: 'other', command: 'rm' })).toBe(true)
      expect(await processes.find('proc-1')).toEqual(running)
      const killed = { ...running, state: 'killed', signal: 'SIGTERM', ended_ms: newYear } as const
      const outcomes = await Promise.all([
        processes.update(killed),
        processes.update({ ...running, ...ended }),
      ])
      expect(outcomes.filter(Boolean)).toHaveLength(1)
      expect(await processes.update({ ...running, detail: 'late' })).toBe(false)
      expect((await processes.find('proc-1'))?.detail).toBeNull()
      expect(await processes.update(processOf('proc-2'))).toBe(false)
    })

    test('are listed newest first by agent, state and node', async () => {
      await using opened = await open()
      const { processes } = opened.storage
      await processes.insert(processOf('proc-1'))
      await processes.insert(processOf('proc-2', { started_ms: newYear + 1, node: 'n2' }))
      await processes.insert(processOf('proc-3', { agent: 'other', ...ended }))
      const list = async (filter: object) => {
        const page = await processes.list({ limit: 9, offset: 0, ...filter })
        return [page.processes.map(({ id }) => id), page.total]
      }
      expect(await list({})).toEqual([['proc-2', 'proc-3', 'proc-1'], 3])
      expect(await list({ agent: 'mailbot', limit: 1 })).toEqual([['proc-2'], 2])
      expect(await list({ agent: 'mailbot', limit: 0 })).toEqual([[], 2])
      expect(await list({ state: 'running', node: 'n1' })).toEqual([['proc-1'], 1])
      expect(await list({ state: 'completed' })).toEqual([['proc-3'], 1])
    })

    test('are forgotten once they ended, the oldest first', async () => {
      await using opened = await open()
      const { processes } = opened.storage
      await processes.insert(processOf('proc-1'))
      await processes.insert(processOf('proc-2', { ...ended, ended_ms: newYear + 1 }))
      await processes.insert(processOf('proc-3', ended))
      await processes.insert(processOf('proc-4', { ...ended, node: 'n2' }))
      const old = (beforeMs: number, limit = 9) => processes.listEnded('n1', beforeMs, limit)
      expect((await old(newYear + 2)).map(({ id }) => id)).toEqual(['proc-3', 'proc-2'])
      expect((await old(newYear + 1)).map(({ id }) => id)).toEqual(['proc-3'])
      expect(await old(newYear + 2, 1)).toHaveLength(1)
      expect(await processes.remove('proc-1')).toBe(false)
      expect(await processes.remove('proc-3')).toBe(true)
      expect(await processes.remove('proc-3')).toBe(false)
      expect(await processes.find('proc-3')).toBeNull()
      expect(await processes.find('proc-1')).not.toBeNull()
    })
  })
}
