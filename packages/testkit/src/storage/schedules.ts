import type { StoredSchedule } from '@gatehouse/server/ports/schedules'
import { describe, expect, test } from 'vitest'
import type { Open } from './opened.ts'
import { awkwardText, jobOf, largest, newYear } from './samples.ts'

const scheduleOf = (id: string, over: Partial<StoredSchedule> = {}): StoredSchedule => ({
  id,
  agent: 'mailbot',
  capability: 'system.time',
  arguments_json: '{}',
  cron: '0 9 * * *',
  time_zone: 'UTC',
  description: '',
  status: 'active',
  next_ms: newYear,
  created_ms: newYear,
  ended_ms: null,
  ...over,
})

export const scheduleMusts = (open: Open): void => {
  describe('schedules', () => {
    test('come back exactly as they were stored', async () => {
      await using opened = await open()
      const schedule = scheduleOf('sched-1', {
        arguments_json: awkwardText,
        description: awkwardText,
        cron: null,
        next_ms: largest,
        ended_ms: largest,
      })
      await opened.storage.schedules.insert(schedule)
      const { schedules } = await opened.reopen()
      expect(await schedules.find('sched-1')).toEqual(schedule)
      expect(await schedules.find('sched-2')).toBeNull()
      await expect(schedules.insert(schedule)).rejects.toMatchObject({ type: 'Conflict' })
    })

    test('move on once for each time', async () => {
      await using opened = await open()
      const { schedules } = opened.storage
      const current = scheduleOf('sched-1')
      await schedules.insert(current)
      const next = { ...current, next_ms: newYear + 5, description: 'not this' }
      const moved = await Promise.all([1, 2, 3].map(() => schedules.replace(current, next)))
      expect(moved.filter(Boolean)).toHaveLength(1)
      const ended = { ...next, status: 'done', next_ms: null, ended_ms: newYear } as const
      expect(await schedules.replace(current, ended)).toBe(false)
      expect(await schedules.replace(next, ended)).toBe(true)
      expect(await schedules.find('sched-1')).toEqual({ ...ended, description: '' })
    })

    test('are stalled where their time has come and no job of theirs waits or runs', async () => {
      await using opened = await open()
      const { schedules, jobs } = opened.storage
      await schedules.insert(scheduleOf('sched-never', { next_ms: newYear + 1 }))
      await schedules.insert(
        scheduleOf('sched-over', { status: 'stopped', next_ms: null, ended_ms: newYear }),
      )
      const states = ['waiting', 'running', 'done', 'dead', 'interrupted', 'cancelled'] as const
      for (const [at, state] of states.entries()) {
        const id = `sched-${state}`
        await schedules.insert(scheduleOf(id, { next_ms: newYear - at }))
        await jobs.insert(jobOf(`job-${state}`, { subject: id, state }))
      }
      await schedules.insert(scheduleOf('sched-alone'))
      const stalled = async (nowMs: number, limit = 9) =>
        (await schedules.listStalled(nowMs, limit)).map(({ id }) => id)
      const ended = ['sched-cancelled', 'sched-interrupted', 'sched-dead', 'sched-done']
      expect(await stalled(newYear)).toEqual([...ended, 'sched-alone'])
      expect(await stalled(newYear - 1, 2)).toEqual(ended.slice(0, 2))
      expect(await schedules.listStalled(newYear - 5, 1)).toEqual([
        scheduleOf('sched-cancelled', { next_ms: newYear - 5 }),
      ])
    })

    test('are listed newest first, by agent and status, and pruned once ended', async () => {
      await using opened = await open()
      const { schedules } = opened.storage
      await schedules.insert(scheduleOf('sched-1'))
      await schedules.insert(scheduleOf('sched-2', { created_ms: newYear + 1 }))
      await schedules.insert(
        scheduleOf('sched-3', { agent: 'other', status: 'done', next_ms: null, ended_ms: newYear }),
      )
      const list = async (filter: object) => {
        const page = await schedules.list({ limit: 9, offset: 0, ...filter })
        return [page.schedules.map(({ id }) => id), page.total]
      }
      expect(await list({})).toEqual([['sched-2', 'sched-3', 'sched-1'], 3])
      expect(await list({ agent: 'mailbot', limit: 1 })).toEqual([['sched-2'], 2])
      expect(await list({ status: 'done' })).toEqual([['sched-3'], 1])
      await schedules.prune(newYear)
      expect(await list({ agent: 'other' })).toEqual([['sched-3'], 1])
      await schedules.prune(newYear + 1)
      expect(await list({})).toEqual([['sched-2', 'sched-1'], 2])
    })
  })
}
