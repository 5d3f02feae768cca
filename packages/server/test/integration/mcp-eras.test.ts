import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Kit } from '@gatehouse/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Gateway } from '../../src/transport/gateway/open-gateway.ts'
import { type Appends, line, openAppends } from '../kit/appends.ts'
import { type Era, eras } from '../kit/eras.ts'
import type { Message } from '../kit/mcp-peer.ts'

// One behaviour in every form of MCP: each feature has one expectation, whichever way a client speaks.

const policy = `version: 1
rules:
  - { match: filesystem.append, tier: approval_required }
  - { match: filesystem.delete, tier: blocked, reason: Nothing is deleted here }
limits:
  - { match: system.*, limit: 1, window: 1h }
`

let appends: Appends
let kit: Kit
let gateway: Gateway
let holder: string
beforeEach(async () => {
  appends = await openAppends('pending', { policy })
  kit = appends.kit
  holder = await kit.agent('holder', 'hold')
  gateway = await appends.open()
})
afterEach(async () => {
  await gateway.close(0)
  await kit[Symbol.asyncDispose]()
})

const callOf = (name: string, args: object = {}, meta: object = {}) => ({
  name,
  arguments: args,
  _meta: meta,
})
const call = (era: Era, name: string, args: object = {}, meta: object = {}): Promise<Message> =>
  era.request('tools/call', callOf(name, args, meta))
const resultOf = ({ result }: Message) => ({
  content: result?.['content'] as readonly { readonly text: string }[],
  data: result?.['structuredContent'] as Record<string, unknown>,
  isError: result?.['isError'] ?? false,
})
const turn = () => new Promise((resolve) => setTimeout(resolve, 2))
const elapse = async (isSo: () => boolean) => {
  while (!isSo()) {
    kit.clock.move(1_000)
    await turn()
  }
}
const asked = async (): Promise<string> => {
  for (;;) {
    const filter = { status: 'pending', limit: 1, offset: 0 } as const
    const { approvals } = await kit.storage.approvals.list(filter)
    if (approvals[0]) return approvals[0].id
    await turn()
  }
}
const append = 'filesystem__append'

type Feature = {
  /** Speaks for the agent whose calls stay open. */
  readonly holds?: true
  readonly use: (era: Era) => Promise<unknown>
  readonly is: unknown
}

const features: Record<string, Feature> = {
  'lists the tools that policy lets the agent use, in order': {
    async use(era) {
      const { result } = await era.request('tools/list', {})
      const names = (result?.['tools'] as { name: string }[]).map(({ name }) => name)
      const listed = await kit.app.listCapabilities(kit.op('alpha'), {})
      const expected = listed.map(({ capability }) => capability.name.replace('.', '__'))
      return [names.join() === expected.toSorted().join(), names.includes('filesystem__delete')]
    },
    is: [true, false],
  },
  'refuses a cursor that is none of ours': {
    use: async (era) => (await era.request('tools/list', { cursor: 'x' })).error?.code,
    is: -32602,
  },
  'refuses a method that there is not': {
    use: async (era) => (await era.request('nothing/here', {})).error?.code,
    is: -32601,
  },
  'answers a call with data, and the same as text': {
    async use(era) {
      const { content, data, isError } = resultOf(
        await call(era, 'filesystem__list', { path: '.' }),
      )
      return [JSON.stringify(data) === content[0]?.text, Object.keys(data).length > 0, isError]
    },
    is: [true, true, false],
  },
  'answers a failure as an error of the tool, with what to do': {
    async use(era) {
      const { content, isError } = resultOf(await call(era, 'filesystem__read', { path: 'no' }))
      const { error, recovery } = JSON.parse(content[0]?.text ?? '') as Record<string, unknown>
      return [error, Array.isArray(recovery), isError]
    },
    is: ['FileNotFound', true, true],
  },
  'answers wrong arguments as an error of the tool, by name': {
    async use(era) {
      const { content, isError } = resultOf(await call(era, 'filesystem__read', { pth: 'no' }))
      return [content[0]?.text.includes('InvalidArguments'), isError]
    },
    is: [true, true],
  },
  'refuses a tool that there is not, with those that come near it': {
    async use(era) {
      const { error } = await call(era, 'filesystem__raed')
      return [error?.code, (error?.data?.['did_you_mean'] as string[])[0]]
    },
    is: [-32602, 'filesystem__read'],
  },
  'refuses what policy blocks, with its reason': {
    async use(era) {
      const { error } = await call(era, 'filesystem__delete', { path: line.path })
      return [error?.code, error?.message.includes('Nothing is deleted here')]
    },
    is: [-32001, true],
  },
  'refuses a call beyond a limit, with when to come back': {
    async use(era) {
      await call(era, 'system__time')
      const { error } = await call(era, 'system__time')
      return [error?.code, error?.data?.['retry_after_seconds']]
    },
    is: [-32000, 3_600],
  },
  'refuses a paused agent': {
    async use(era) {
      await kit.app.pauseAgent(kit.operator(), { name: 'alpha' })
      const { error } = await call(era, 'filesystem__list', { path: '.' })
      return [error?.code, error?.data?.['reason']]
    },
    is: [-32001, 'agent_paused'],
  },
  'answers a held call with the id of its request': {
    async use(era) {
      const { data, isError } = resultOf(await call(era, append, line))
      return [data['status'], data['approval_id'] === (await asked()), isError]
    },
    is: ['pending_approval', true, false],
  },
  'tells of the end of a request, with the result of its call': {
    async use(era) {
      const { data } = resultOf(await call(era, append, line))
      const told = era.notified('notifications/approvals/resolved')
      await appends.approve(await asked())
      const { approval_id, status, result } = await told
      const { structuredContent } = result as { structuredContent: Record<string, unknown> }
      return [approval_id === data['approval_id'], status, structuredContent['size_bytes']]
    },
    is: [true, 'approved', 4],
  },
  'keeps a call open for an agent that asks for it, and tells that it waits': {
    holds: true,
    async use(era) {
      const running = era.begin(callOf(append, line, { progressToken: 'p' }))
      const id = await asked()
      for (let seconds = 0; seconds < 12; seconds++) {
        kit.clock.move(1_000)
        await turn()
      }
      await kit.decide(id, 'approve')
      const answer = await running.answer
      const [first] = running.told()
      return [
        resultOf(answer ?? {}).isError,
        first?.method,
        first?.params?.['progressToken'],
        String(first?.params?.['message']).includes('waits for a person'),
      ]
    },
    is: [false, 'notifications/progress', 'p', true],
  },
  'withdraws the request of a call that is cancelled': {
    holds: true,
    async use(era) {
      const running = era.begin(callOf(append, line))
      const id = await asked()
      await running.cancel()
      await running.answer
      let status: string | undefined = 'pending'
      while (status === 'pending') {
        await turn()
        status = (await kit.storage.approvals.find(id))?.status
      }
      return status
    },
    is: 'cancelled',
  },
  'tells that the tools have changed': {
    async use(era) {
      const told = era.notified('notifications/tools/list_changed')
      // What a client has not listed cannot change for it.
      await era.request('tools/list', {})
      const secret = { name: 'api', value: 'a-long-value-of-a-key', description: 'A key' }
      await kit.app.addSecret(kit.operator(), {
        ...secret,
        agents: ['alpha'],
        capabilities: ['network.credentialed_request'],
        hosts: ['example.org'],
      })
      let done = false
      void told.then(() => {
        done = true
      })
      await elapse(() => done)
      return told
    },
    is: {},
  },
  'tells of a wake': {
    async use(era) {
      const told = era.notified('notifications/wake')
      await kit.app.wakeAgent({ agent: 'alpha', reason: 'mail' })
      kit.clock.move(1_000)
      return (await told)['reason']
    },
    is: 'mail',
  },
  'tells of a change that the agent watches': {
    async use(era) {
      const told = era.notified('notifications/files/changed')
      const { data } = resultOf(await call(era, 'filesystem__watch', { path: '.' }))
      writeFileSync(join(kit.workspace('alpha'), 'new.txt'), 'x')
      const { watch_id, kind } = await told
      return [watch_id === data['watch_id'], kind]
    },
    is: [true, 'created'],
  },
  'tells of any other event under our own name': {
    async use(era) {
      const told = era.notified('notifications/gatehouse/event')
      kit.parts.events.publish({ type: 'test.event', agent: 'alpha', data: { n: 1 } })
      const { type, data } = await told
      return [type, data]
    },
    is: ['test.event', { n: 1 }],
  },
  'keeps scratch values for the session': {
    async use(era) {
      await call(era, 'scratch__set', { key: 'k', value: [1] })
      return resultOf(await call(era, 'scratch__get', { key: 'k' })).data['value']
    },
    is: [1],
  },
  'names the session and the reason in the audit entries': {
    async use(era) {
      const reason = { 'gatehouse/reason': 'To look' }
      for (let n = 0; n < 2; n++) await call(era, 'filesystem__stat', { path: line.path }, reason)
      const [second, first] = await kit.audit({ capability: 'filesystem.stat' })
      const { sessions } = await kit.app.showAgent(kit.operator(), { name: 'alpha' })
      return [
        first?.session_id === second?.session_id,
        sessions.map(({ session_id }) => session_id).includes(first?.session_id as never),
        first?.detail,
      ]
    },
    is: [true, true, { agent_reason: 'To look' }],
  },
}

describe.each(Object.entries(features))('%s', (_feature, { holds, use, is }) => {
  test.each(eras)('%s', async (_era, open) => {
    await using era = await open(gateway, holds ? holder : appends.token)
    expect(await use(era)).toEqual(is)
  })
})
