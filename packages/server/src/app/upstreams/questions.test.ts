import { createKit } from '@gatehouse/testkit'
import { expect, test } from 'vitest'
import { type AskingCall, type QuestionDeps, Questions } from './questions.ts'

test('questions that are still being recorded take their places, too', async () => {
  await using kit = await createKit()
  let ids = 0
  const stopped = new AbortController()
  let recorded = () => {}
  const held = new Promise<void>((resolve) => {
    recorded = resolve
  })
  const questions = new Questions({
    auditLog: { transaction: () => held } as unknown as QuestionDeps['auditLog'],
    storage: kit.storage,
    node: 'here',
    ids: { next: (prefix: string) => `${prefix}-${(ids += 1)}` } as unknown as QuestionDeps['ids'],
    log: { warn: () => {} } as unknown as QuestionDeps['log'],
    clock: kit.clock,
    secrets: { hide: () => {}, scrub: (value) => value },
    settings: { 'approvals.hold': 60_000 },
    notified: async () => {},
    signal: stopped.signal,
    stops: new AbortController().signal,
  })
  const call: AskingCall = {
    ...{ upstream: 'notes', agent: 'alpha', capability: 'notes.add' },
    ...{ request_id: 'req-1', other_calls: 0 },
  }
  const asked = { kind: 'url' as const, message: 'Log in.', url: 'https://a.example/' }
  const asking = Array.from({ length: 12 }, () =>
    questions.ask(call, asked, stopped.signal).then(
      ({ action }) => action,
      (error: Error) => error.message,
    ),
  )
  recorded()
  await expect.poll(() => questions.list()).toHaveLength(10)
  stopped.abort()
  const ends = await Promise.all(asking)
  expect(ends.filter((end) => end === 'cancel')).toHaveLength(10)
  expect(ends.filter((end) => end.includes('too many of its questions'))).toHaveLength(2)
})
