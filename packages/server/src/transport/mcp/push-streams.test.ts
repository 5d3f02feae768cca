import type { ServerResponse } from 'node:http'
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import type { App } from '../../app/app.ts'
import type { Tell } from '../../app/events/pushes.ts'
import { defaultGatewayLimits } from '../http/limits.ts'
import { ToolNames } from '../http/tool-names.ts'
import { AgentConnections } from './agent-connections.ts'
import { PushStreams } from './push-streams.ts'

const actor = { kind: 'agent', name: 'alpha', credential: 1 } as const
const wake = { id: 'evt-1', type: 'wake', timestamp: '', agent: 'alpha', data: {} }

/** Streams of an agent that may hold one connection, and what tells them. */
const scene = () => {
  const listeners = new Set<Tell>()
  const app = {
    stillValid: () => true,
    holdSession: () => ({ [Symbol.dispose]: () => {} }),
    subscribeEvents(_agent: string, tell: Tell): Disposable {
      listeners.add(tell)
      return { [Symbol.dispose]: () => void listeners.delete(tell) }
    },
  }
  const connections = new AgentConnections(1)
  const streams = new PushStreams(
    {
      app: app as unknown as App,
      names: new ToolNames(() => []),
      limits: defaultGatewayLimits,
      now: () => 0,
    },
    connections,
  )
  return { connections, streams, listeners }
}

/** An answer whose peer never reads: what is written waits. */
const unreadAnswer = () => {
  const stream = new PassThrough({ highWaterMark: 1 })
  return Object.assign(stream, { writeHead: () => stream }) as unknown as ServerResponse
}

test('an answer that closed before it became a stream takes no place', () => {
  const { connections, streams, listeners } = scene()
  const res = unreadAnswer()
  res.destroy()
  expect(streams.open(res, actor, 'sess-1', [])).toBe(null)
  expect([connections.take('alpha'), listeners.size]).toEqual([true, 0])
})

test('what an answer was still writing when it closed was not taken', async () => {
  const { connections, streams, listeners } = scene()
  const res = unreadAnswer()
  expect(streams.open(res, actor, 'sess-1', [])).toBe(null)
  const told = [...listeners].map(async (tell) => tell(wake))
  expect(told).toHaveLength(1)
  res.destroy()
  expect(await Promise.all(told)).toEqual([false])
  expect(connections.take('alpha')).toBe(true)
})
