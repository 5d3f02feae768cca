import { GatehouseError } from '@gatehouse/contract'
import { expect, test } from 'vitest'
import type { Storage } from '../../src/ports/storage.ts'
import { openProxyKit, type ProxyKit } from './kit.ts'

type Mode = 'before' | 'after'

/** A store that fails once, at the step that was armed: before it is stored, or after, unbeknown to the caller. */
class FailingOnce {
  #left = Infinity
  #mode: Mode = 'before'
  steps = 0

  arm(step: number, mode: Mode): void {
    this.#left = step
    this.#mode = mode
    this.steps = 0
  }

  around(memory: Storage): Storage {
    const step = async <T>(work: () => Promise<T>): Promise<T> => {
      this.steps += 1
      const fails = this.#left === 0
      this.#left -= 1
      const broken = new GatehouseError('StorageUnavailable', { detail: 'the disk is away' })
      if (fails && this.#mode === 'before') throw broken
      const done = await work()
      if (fails) throw broken
      return done
    }
    return {
      ...memory,
      transaction: (work) => step(() => memory.transaction(work)),
      writes: {
        ...memory.writes,
        claim: (claim) => step(() => memory.writes.claim(claim)),
        replace: (current, next) => step(() => memory.writes.replace(current, next)),
      },
      rollbacks: {
        ...memory.rollbacks,
        replace: (current, next) => step(() => memory.rollbacks.replace(current, next)),
      },
    }
  }
}

const stepsMax = 12

/** Lets time pass until nothing is pending. */
const moveUntil = (proxy: ProxyKit, condition: () => Promise<boolean>) =>
  proxy.until(async () => {
    proxy.kit.clock.move(30_000)
    return condition()
  })

for (const operation of ['put', 'send', 'blind'] as const)
  for (const mode of ['before', 'after'] as const)
    test(`a ${operation} whose store fails ${mode} any step runs at most once, and ends in a way that is true`, async () => {
      const failing = new FailingOnce()
      await using proxy = await openProxyKit({ storage: (memory) => failing.around(memory) })
      const { kit, server } = proxy
      let reached = 0
      for (let step = 0; step < stepsMax; step += 1) {
        const args = operation === 'put' ? { id: `t${step}`, value: 'v' } : { text: `${step}` }
        const { write_id } = await proxy.buffer(operation, args)
        failing.arm(step, mode)
        await moveUntil(proxy, async () => (await proxy.service()).buffered_writes === 0)
        reached = Math.max(reached, failing.steps)
        failing.arm(Infinity, mode)
        const write = await proxy.write(write_id)
        const effects = server.effects.get(write_id) ?? 0
        expect(effects, `step ${step}`).toBeLessThanOrEqual(1)
        if (write.status === 'executed') expect(effects, `step ${step}`).toBe(1)
        else expect(write, `step ${step}`).toMatchObject({ status: 'failed', dead_letter: true })
        if (operation !== 'blind' && effects === 1) expect(write.status).toBe('executed')
      }
      expect(reached).toBeGreaterThan(3)
      expect((await kit.app.verifyAudit(kit.operator())).integrity).toBe('verified')
    })

for (const mode of ['before', 'after'] as const)
  test(`a rollback whose store fails ${mode} any step ends in the old state or the new one`, async () => {
    const failing = new FailingOnce()
    await using proxy = await openProxyKit({ storage: (memory) => failing.around(memory) })
    const { kit, server } = proxy
    for (let step = 0; step < stepsMax; step += 1) {
      server.put('things', `t${step}`, 'before')
      const { write_id } = await proxy.buffer('put', { id: `t${step}`, value: 'after' })
      await moveUntil(proxy, async () => (await proxy.write(write_id)).status === 'executed')
      const rollback_id = String((await proxy.write(write_id)).rollback_id)
      failing.arm(step, mode)
      await kit.app.rollBack(kit.operator(), { rollback_id }).catch(() => undefined)
      await moveUntil(
        proxy,
        async () => (await proxy.write(write_id)).rollback_status !== 'rolling_back',
      )
      failing.arm(Infinity, mode)
      const { rollback_status } = await proxy.write(write_id)
      const value = server.values()[JSON.stringify(['things', `t${step}`])]
      expect([rollback_status, value], `step ${step}`).toEqual(
        rollback_status === 'ready' ? ['ready', 'after'] : ['rolled_back', 'before'],
      )
      const undone = [...server.effects].filter(([by]) => by === `undo ${write_id}`)
      expect(undone.every(([, times]) => times === 1)).toBe(true)
    }
  })
