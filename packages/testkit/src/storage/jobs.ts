import type { StoredJob } from '@gatehouse/server/ports/jobs'
import type { Storage } from '@gatehouse/server/ports/storage'
import { describe, expect, test } from 'vitest'
import type { Open } from './opened.ts'
import { agentOf, awkwardText, jobOf, largest, newYear } from './samples.ts'

const chores = { kinds: ['chore'], awaySites: [] } as const

const claimBy = ({ jobs }: Storage, owner: string, limit = 10, dueMs = newYear) =>
  jobs.claim({ ...chores, owner, dueMs, leaseMs: newYear + 100, limit })

export const jobMusts = (open: Open): void => {
  describe('jobs', () => {
    test('come back exactly as they were stored, and have ids of their own', async () => {
      await using opened = await open()
      const job = jobOf('job-1', {
        subject: awkwardText,
        agent: awkwardText,
        payload_json: awkwardText,
        outcome_json: awkwardText,
        due_ms: largest,
        lease_ms: largest,
        owner: 'node-1',
      })
      await opened.storage.jobs.insert(job)
      await expect(opened.storage.jobs.insert(job)).rejects.toMatchObject({ type: 'Conflict' })
      const { jobs } = await opened.reopen()
      expect(await jobs.find('job-1')).toEqual(job)
      expect(await jobs.find('JOB-1')).toBeNull()
      expect((await jobs.listOf(awkwardText, { limit: 5, offset: 0 })).jobs).toEqual([job])
    })

    test('are claimed when they are due, the longest due first, with an attempt and a lease', async () => {
      await using opened = await open()
      const { jobs } = opened.storage
      await jobs.insert(jobOf('job-1', { due_ms: newYear }))
      await jobs.insert(jobOf('job-2', { due_ms: newYear - 5 }))
      await jobs.insert(jobOf('job-3', { due_ms: newYear + 1 }))
      await jobs.insert(jobOf('job-4', { kind: 'other', due_ms: 1 }))
      expect(await jobs.nextDue(chores)).toBe(newYear - 5)
      expect((await claimBy(opened.storage, 'a', 1)).map(({ id }) => id)).toEqual(['job-2'])
      const claimed = await claimBy(opened.storage, 'a')
      expect(claimed).toEqual([
        jobOf('job-1', {
          state: 'running',
          owner: 'a',
          attempts: 1,
          lease_ms: newYear + 100,
          started_ms: newYear,
        }),
      ])
      expect(await jobs.nextDue(chores)).toBe(newYear + 1)
      expect(await jobs.nextDue({ ...chores, kinds: ['none'] })).toBeNull()
      expect(await (await opened.reopen()).jobs.find('job-1')).toEqual(claimed[0])
    })

    test('gives each job to one of many claimers', async () => {
      await using opened = await open()
      for (let n = 0; n < 40; n += 1) await opened.storage.jobs.insert(jobOf(`job-${100 + n}`))
      const owners = Array.from({ length: 8 }, (_, n) => `node-${n}`)
      const won = await Promise.all(owners.map((owner) => claimBy(opened.storage, owner, 7)))
      const ids = won.flat().map(({ id }) => id)
      expect(new Set(ids).size).toBe(ids.length)
      expect(won.every((jobs) => jobs.length <= 7)).toBe(true)
      expect(ids.length).toBeGreaterThanOrEqual(7)
      while ((await claimBy(opened.storage, 'late')).length > 0);
      expect(await opened.storage.jobs.nextDue(chores)).toBeNull()
    })

    test('of agents whose workspace is on another node are left to that node', async () => {
      await using opened = await open()
      const { agents, jobs } = opened.storage
      for (const [at, site] of ['here', 'there', null].entries()) {
        await agents.insert(agentOf(`agent-${at}`, { site }))
        await jobs.insert(jobOf(`job-${at}`, { agent: `agent-${at}`, due_ms: newYear - at }))
      }
      await jobs.insert(jobOf('job-3', { agent: 'nobody' }))
      const from = async (awaySites: readonly string[]) => {
        const wanted = { kinds: ['chore'], awaySites }
        const due = await jobs.nextDue(wanted)
        const claim = { ...wanted, owner: 'a', dueMs: newYear, leaseMs: newYear, limit: 9 }
        return [due, ...(await jobs.claim(claim)).map(({ id }) => id)]
      }
      expect(await from(['there', 'elsewhere'])).toEqual([newYear - 2, 'job-2', 'job-0', 'job-3'])
      expect(await from(['there'])).toEqual([null])
      expect(await from(['here'])).toEqual([newYear - 1, 'job-1'])
    })

    test('are changed only by who still holds them', async () => {
      await using opened = await open()
      const { jobs } = opened.storage
      await jobs.insert(jobOf('job-1'))
      const [held] = await claimBy(opened.storage, 'a')
      const done = {
        ...(held as StoredJob),
        state: 'done',
        owner: null,
        payload_json: 'x',
      } as const
      expect(await jobs.replace({ ...done, state: 'running', owner: 'b' }, done)).toBe(false)
      expect(await jobs.replace({ ...(held as StoredJob), attempts: 0 }, done)).toBe(false)
      expect(await jobs.replace(held as StoredJob, done)).toBe(true)
      expect(await jobs.replace(held as StoredJob, done)).toBe(false)
      expect(await jobs.find('job-1')).toEqual({ ...done, payload_json: '{}' })
    })

    test('are lost when their lease ends or their owner says so', async () => {
      await using opened = await open()
      const { jobs } = opened.storage
      await jobs.insert(jobOf('job-1'))
      await claimBy(opened.storage, 'a')
      const lostTo = async (nowMs: number, owner?: string) =>
        (await jobs.listLost({ nowMs, limit: 9, ...(owner ? { owner } : {}) })).map(({ id }) => id)
      expect(await lostTo(newYear + 99)).toEqual([])
      expect(await lostTo(newYear + 99, 'b')).toEqual([])
      expect(await lostTo(newYear, 'a')).toEqual(['job-1'])
      expect(await lostTo(newYear + 100)).toEqual(['job-1'])
      await jobs.renew(['job-1'], 'b', newYear + 500)
      expect(await lostTo(newYear + 100)).toEqual(['job-1'])
      await jobs.renew(['job-1'], 'a', newYear + 500)
      expect(await lostTo(newYear + 100)).toEqual([])
    })

    test('of a subject are listed the latest first, cancelled while they wait, and pruned when old', async () => {
      await using opened = await open()
      const { jobs } = opened.storage
      for (const n of [1, 2, 3, 4])
        await jobs.insert(
          jobOf(`job-${n}`, {
            due_ms: newYear + n,
            ...(n < 4 ? { state: 'done', finished_ms: newYear + n } : {}),
          }),
        )
      await jobs.insert(jobOf('job-9', { subject: 'other' }))
      const idsOf = async () =>
        (await jobs.listOf('sched-1', { limit: 9, offset: 0 })).jobs.map(({ id }) => id)
      expect(await idsOf()).toEqual(['job-4', 'job-3', 'job-2', 'job-1'])
      expect(await jobs.listOf('sched-1', { limit: 1, offset: 1 })).toMatchObject({
        jobs: [{ id: 'job-3' }],
        total: 4,
      })
      expect(await jobs.cancelOf('sched-1', newYear + 9)).toBe(1)
      expect(await jobs.cancelOf('sched-1', newYear + 9)).toBe(0)
      expect(await jobs.find('job-4')).toMatchObject({ state: 'cancelled' })
      expect(await jobs.find('job-9')).toMatchObject({ state: 'waiting' })
      await jobs.prune(newYear + 2)
      expect(await idsOf()).toEqual(['job-4', 'job-3', 'job-2'])
      await jobs.prune(0, { subject: 'sched-1', keep: 1 })
      expect(await idsOf()).toEqual(['job-4'])
      expect(await jobs.find('job-9')).not.toBeNull()
    })

    test('of a transaction that fails were never there', async () => {
      await using opened = await open()
      const failing = opened.storage.transaction(async (tx) => {
        await tx.jobs.insert(jobOf('job-1'))
        expect(await tx.jobs.find('job-1')).not.toBeNull()
        throw new Error('no')
      })
      await expect(failing).rejects.toThrow('no')
      expect(await opened.storage.jobs.find('job-1')).toBeNull()
    })
  })
}
