import { afterTurns } from '@gatehouse/testkit/after-turns'
import { expect, test } from 'vitest'
import type { AgentOp } from '../call/op.ts'
import { bindSubscriptions, type SubscriptionDeps } from './subscriptions.ts'

const uri = 'upstream://notes/notes://first'
const reader = { name: 'notes.read', group: 'notes', method: 'resources/read' }
const { signal } = new AbortController()
const op = { actor: { kind: 'agent', name: 'ada' }, session_id: null, signal } as unknown as AgentOp

/** A server that tells of a change when it is asked to, and a clock on which each pause ends at once. */
class TellingServer {
  change: () => void = () => undefined
  /** Told of each pause, before it ends. */
  pausing: (pause: Promise<void>) => void = () => undefined

  readonly deps = {
    clock: {
      now: () => 0,
      sleep: () => {
        const pause = Promise.resolve()
        this.pausing(pause)
        return pause
      },
    },
    ids: { next: (prefix: string) => `${prefix}-1` },
    log: { warn: () => undefined },
    signal,
    auditLog: { append: async () => undefined },
    sessions: { onEnd: () => undefined },
    listCapabilities: async () => [{ capability: reader, tier: 'autonomous' }],
    invoke: async () => ({ kind: 'succeeded', data: { content: [] } }),
    tellsChanges: () => true,
    inService: () => true,
    describeCapability: async () => ({ kind: 'described' }),
    testPolicy: async () => ({ decision: { kind: 'allow' } }),
    watchUpstream: async (_input: unknown, _signal: unknown, changed: () => void) => {
      this.change = changed
      return {
        ended: new Promise<void>(() => undefined),
        [Symbol.asyncDispose]: async () => undefined,
      }
    },
  } as unknown as SubscriptionDeps
}

test('a change in whichever turn the last one was told is told as well', async () => {
  for (let turns = 0; turns < 12; turns += 1) {
    const server = new TellingServer()
    let told = 0
    const changed = () => {
      told += 1
      return true
    }
    const { useCases } = bindSubscriptions(server.deps)
    const outcome = await useCases.watchResource(op, { uri }, { changed })
    expect(outcome.kind).toBe('watched')
    await new Promise<void>((done) => {
      server.pausing = (pause) => {
        server.pausing = () => undefined
        void afterTurns(pause, turns, () => {
          server.change()
          done()
        })
      }
      server.change()
    })
    await expect.poll(() => [turns, told]).toEqual([turns, 2])
  }
})
