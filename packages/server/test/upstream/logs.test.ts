import type { LogMessage } from '@gatehouse/contract'
import { createKit, type Kit } from '@gatehouse/testkit'
import { CountedIds } from '@gatehouse/testkit/counted-ids'
import { hasProgram } from '@gatehouse/testkit/programs'
import { McpServer } from '@modelcontextprotocol/server'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { outboundWith } from '../../src/outbound/testing.ts'
import { openGateway } from '../../src/transport/gateway/open-gateway.ts'
import { eras } from '../kit/eras.ts'
import { KeptLog } from '../kit/kept-log.ts'
import { serveMcp } from './serve-mcp.ts'
import { tool, UpstreamKit } from './upstream-kit.ts'

/** Writes to the log of a request where that asks for it. */
const createChatter = (): McpServer => {
  const server = new McpServer(
    { name: 'chatter', version: '1.0.0' },
    { capabilities: { logging: {} } },
  )
  server.registerTool(
    'chat',
    { inputSchema: z.object({ times: z.number().default(1), size: z.number().default(1) }) },
    async ({ times, size }, ctx) => {
      for (let i = 0; i < times; i += 1) {
        await ctx.mcpReq.log('info', 'of no weight')
        await ctx.mcpReq.log('error', { said: 'x'.repeat(size) }, 'engine')
      }
      return { content: [{ type: 'text', text: 'done' }] }
    },
  )
  return server
}

const kitWith = async (url: string): Promise<Kit> => {
  const outbound = outboundWith({ privateTargets: [new URL(url).host] })
  const kit = await createKit({ outbound })
  const { digest } = await kit.app.addUpstream(kit.operator(), {
    name: 'chatter',
    server: { kind: 'http', url },
    grants: { folders: [], hosts: [], environment: {} },
    credentials: {},
    per_agent: true,
    dry_run: false,
  })
  await kit.app.acceptUpstream(kit.operator(), { name: 'chatter', digest })
  const text = 'version: 1\nrules:\n  - {match: chatter.*, tier: autonomous}\n'
  await kit.parts.policy.save({ text })
  return kit
}

describe.each(eras)('over %s', (name, open) => {
  const isModern = name.endsWith('2026-07-28')

  test('a client reads the log of a server as far as it asked for it, within bounds', async () => {
    await using chatter = await serveMcp(createChatter)
    await using kit = await kitWith(chatter.url)
    const token = await kit.agent('alpha')
    const gateway = await openGateway({
      ...{ host: '127.0.0.1', port: 0, app: kit.app, ids: new CountedIds(), log: new KeptLog() },
      ...{ version: '0.0.0', allowedHosts: [], allowedOrigins: [] },
    })
    try {
      await using era = await open(gateway, token)
      const call = async (args: object, level?: string) => {
        const meta = level === undefined ? {} : { 'io.modelcontextprotocol/logLevel': level }
        const params = { name: 'chatter__chat', arguments: args, _meta: isModern ? meta : {} }
        const running = era.begin(params)
        expect((await running.answer)?.result).toMatchObject({ content: [{ text: 'done' }] })
        return running
          .told()
          .filter(({ method }) => method === 'notifications/message')
          .map(({ params: message }) => message)
      }
      expect(await call({})).toEqual([])
      if (!isModern) {
        const wrong = await era.request('logging/setLevel', { level: 'loud' })
        expect(wrong.error).toMatchObject({ code: -32602 })
        const { result } = await era.request('logging/setLevel', { level: 'warning' })
        expect(result).toEqual({})
      }
      const error = {
        level: 'error',
        logger: 'chatter/engine',
        _meta: { 'gatehouse/upstream': 'chatter' },
      }
      expect(await call({}, 'warning')).toEqual([{ ...error, data: { said: 'x' } }])
      expect(await call({ size: 9_000 }, 'warning')).toEqual([
        { ...error, data: '[left out: 9011 bytes]' },
      ])
      const many = await call({ times: 150 }, 'warning')
      expect(many).toHaveLength(101)
      expect(many.at(-1)).toMatchObject({ data: '[left out: all after 100 messages]' })
      const entries = await kit.audit({ capability: 'chatter.chat' })
      const ended = entries.filter(({ result }) => result === 'success')
      const counts = ended.map(({ detail }) => (detail as { upstream: object }).upstream)
      const plain = { server: 'chatter', tool: 'chat' }
      expect(counts.toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)))).toEqual(
        [
          { ...plain, log_messages: 1 },
          { ...plain, log_messages: 1 },
          { ...plain, log_messages: 100 },
          plain,
        ],
      )
    } finally {
      await gateway.close(0)
    }
  })
})

describe.skipIf(!hasProgram('bwrap'))('the log of a program', () => {
  const opened = async (per_agent: boolean) => {
    const scripted = await UpstreamKit.open()
    const { kit } = scripted
    scripted.says({
      tools: [tool('log'), tool('log_together')],
      logs: [
        ['debug', 'too little'],
        ['error', 'it matters', 'engine'],
        ['loud', 'no such level'],
      ],
    })
    await scripted.add({ per_agent })
    await scripted.accept()
    await scripted.allow()
    await kit.agent('beta')
    const call = async (agent: string, name: string): Promise<readonly LogMessage[]> => {
      const told: LogMessage[] = []
      const logs = {
        level: 'info' as const,
        tell: (message: LogMessage) => void told.push(message),
      }
      const op = { ...kit.op(agent), logs }
      const asked = { capability: `scripted.${name}`, arguments: {} }
      expect(await kit.app.invoke(op, asked)).toMatchObject({ kind: 'succeeded' })
      return told
    }
    return { scripted, call }
  }

  test('is asked for by level once, and held to it', async () => {
    const { scripted, call } = await opened(true)
    await using _scripted = scripted
    const heard = { level: 'error', logger: 'scripted/engine', data: 'it matters' }
    expect(await call('alpha', 'log')).toMatchObject([heard])
    expect(await call('alpha', 'log')).toMatchObject([heard])
    const levels = scripted.notedLines().filter((line) => line.startsWith('level '))
    expect(levels).toEqual(['level info'])
  })

  test.each([
    [true, 'alpha', 1],
    [false, 'beta', 0],
  ])(
    'of calls at once, it is never told to another agent (per agent: %s)',
    async (perAgent, other, count) => {
      const { scripted, call } = await opened(perAgent)
      await using _scripted = scripted
      const told = await Promise.all([call('alpha', 'log_together'), call(other, 'log_together')])
      expect(told.flat()).toHaveLength(count)
    },
  )
})
