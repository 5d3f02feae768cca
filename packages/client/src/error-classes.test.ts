import { errorTable } from '@gatehouse/contract/errors'
import { expect, test } from 'vitest'
import * as errors from './errors.ts'
import { toFailure, toRpcError } from './to-error.ts'

const classes = new Map<string, unknown>(Object.entries(errors))

test('has a class for each type of the table', () => {
  for (const type of Object.keys(errorTable).filter((name) => name !== 'ApprovalRequired')) {
    const error = toFailure({ type, message: 'no', recovery: [] })
    expect(error).toBeInstanceOf(classes.get(type))
    expect(error).toMatchObject({ name: type, type, message: 'no', code: null })
  }
})

test.each([
  [-32001, { reason: 'blocked', rule: null }, 'PolicyDenied'],
  [-32001, { reason: 'agent_paused' }, 'AgentPaused'],
  [-32001, { reason: 'tool_set' }, 'OutsideToolSet'],
  [-32000, { retry_after_seconds: 3, limit: 1, window: '1m' }, 'RateLimited'],
  [-32000, { reason: 'overloaded', retry_after_seconds: 1 }, 'Overloaded'],
  [-32000, { reason: 'too_many_pending', retry_after_seconds: 9 }, 'TooManyPending'],
  [-32003, undefined, 'AuthenticationFailed'],
  [-32602, { did_you_mean: [], type: 'UnknownCapability' }, 'UnknownCapability'],
  [-32099, undefined, 'InternalError'],
] as const)('reads %i with %j as %s', (code, data, type) => {
  const error = toRpcError({ code, message: 'no', data })
  expect(error).toBeInstanceOf(classes.get(type))
  expect(error).toMatchObject({ code, type, message: 'no' })
})

test('keeps a type that this version does not know', () => {
  for (const type of ['InventedLater', 'constructor', '__proto__'])
    expect(toFailure({ type, message: 'no' })).toMatchObject({ type, name: type })
})
