import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { EngineState, Health, ModelList } from '@gatehouse/contract'
import { scriptModel } from '@gatehouse/testkit'
import { engineFolder, hasEngine } from '@gatehouse/testkit/programs'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { WebSocketClientTransport } from '@modelcontextprotocol/sdk/client/websocket.js'
import OpenAI from 'openai'
import { describe, expect, test } from 'vitest'
import { entryOf, ModelSource } from '../packages/server/test/models/model-source.ts'
import { homes } from './support/homes.ts'
import { Installation, invoke } from './support/server.ts'
import './support/web-socket.ts'

const sentence = 'Hello from the local model.'
const messages = [{ role: 'user' as const, content: 'Who are you?' }]

/** An installation that may fetch one small model, with the engine where its setup would put it. */
function installationFor(source: ModelSource): Installation {
  const bytes = scriptModel()
  const entry = entryOf('tiny', source.file('/tiny.gguf', bytes), bytes)
  source.json('/models.json', { schema_version: 1, models: [entry] })
  const installation = new Installation()
  const settings = [
    `catalog: { url: "${source.url('/models.json')}" }`,
    `outbound: { private_targets: ["${source.target}"], ca_file: "${source.caFile}" }`,
    'engine: { threads: 1 }',
  ]
  writeFileSync(join(installation.dataDir, 'gatehouse.yaml'), `${settings.join('\n')}\n`)
  symlinkSync(engineFolder, join(installation.dataDir, 'engine'))
  return installation
}

/** Once it is offered: the first look waits five seconds for the catalog. */
const installTiny = async (gate: Installation): Promise<void> => {
  const offered = async () => (await gate.json<ModelList>(['models', 'list'])).models
  await expect.poll(offered).toContainEqual(expect.objectContaining({ id: 'tiny' }) as unknown)
  expect((await gate.cli(['models', 'install', 'tiny'])).code).toBe(0)
}

describe.skipIf(!hasEngine())('from a catalog to an answer', () => {
  test('a model answers the command, an agent by JSON-RPC and MCP, and the client of OpenAI', async () => {
    await using source = await ModelSource.open()
    await using gate = installationFor(source)
    const run = await gate.start(['--workers', '2'])
    expect((await gate.cli(['models', 'setup'])).stdout).toContain('The engine is installed')
    await installTiny(gate)
    expect((await gate.cli(['models', 'default', 'tiny'])).code).toBe(0)

    const tried = await gate.cli(['models', 'try', 'tiny', 'Who are you?'])
    expect(tried).toMatchObject({ code: 0, stderr: '' })
    expect(tried.stdout).toMatch(new RegExp(`^${sentence}\n\\[9 tokens in \\d+\\.\\d s\\]\n$`))
    const engine = await gate.json<EngineState>(['models', 'engine'])
    expect(engine).toMatchObject({ status: 'running', model: 'tiny', sandbox: 'bubblewrap' })

    // Whichever gate process serves an agent, the model is in memory once.
    const [here = '', elsewhere = ''] = homes().map(([name]) => name)
    const ofHere = await gate.createAgent(here)
    const { token } = await gate.createAgent(elsewhere)
    for (const one of [ofHere.token, token]) {
      const answered = await invoke(run, one, 'inference.chat', { messages })
      expect(answered.result).toMatchObject({
        success: true,
        data: { model: 'tiny', text: sentence, finish_reason: 'stop' },
      })
    }
    const listed = await invoke(run, token, 'inference.models')
    expect(listed.result?.data).toMatchObject({ models: [{ id: 'tiny', loaded: true }] })
    const after = await gate.json<EngineState>(['models', 'engine'])
    expect(after).toMatchObject({ pid: engine.pid, requests: engine.requests + 2 })

    const client = new Client({ name: 'local-models', version: '1.0.0' })
    await client.connect(new WebSocketClientTransport(new URL(`${run.mcp_url}?token=${token}`)))
    const told: string[] = []
    const answers: Awaited<ReturnType<typeof client.callTool>>[] = []
    // What comes together with its answer, as it does to a process that waits for its turn, the client does not hand on.
    await expect
      .poll(async () => {
        const called = await client.callTool(
          { name: 'inference__chat', arguments: { messages } },
          undefined,
          { onprogress: ({ message = '' }) => told.push(message) },
        )
        answers.push(called)
        return told.length
      })
      .toBeGreaterThan(0)
    for (const { content, structuredContent } of answers) {
      expect(content).toEqual([{ type: 'text', text: sentence }])
      expect(structuredContent).toMatchObject({ text: sentence, finish_reason: 'stop' })
    }
    for (const text of told) expect(sentence.startsWith(text)).toBe(true)
    await client.close()

    const label = ['--label', 'editor', '--role', 'viewer']
    const made = await gate.json<{ token: string }>(['user-token', 'create', ...label])
    const openai = new OpenAI({ apiKey: made.token, baseURL: `${run.user_api_url}/v1` })
    expect((await openai.models.list()).data.map(({ id }) => id)).toEqual(['tiny'])
    const stream = await openai.chat.completions.create({ model: 'tiny', messages, stream: true })
    let text = ''
    for await (const part of stream) text += part.choices[0]?.delta.content ?? ''
    expect(text).toBe(sentence)
    const vectors = await openai.embeddings.create({ model: 'tiny', input: 'one' })
    expect(Math.hypot(...(vectors.data[0]?.embedding ?? []))).toBeCloseTo(1, 5)
    await expect(
      openai.chat.completions.create({ model: 'no-such', messages }),
    ).rejects.toMatchObject({ status: 404, code: 'model_not_found' })

    const log = await gate.json<{
      entries: { capability: string; detail: object | null; actor: string }[]
    }>(['audit', 'query', '--limit', '50'])
    // The other gate process may be late with its word.
    const integrity = async () =>
      (await gate.json<{ integrity: string }>(['audit', 'query', '--limit', '1'])).integrity
    await expect.poll(integrity).toBe('verified')
    const chat = log.entries.find(({ capability }) => capability === 'inference.chat')
    expect(chat?.detail).toMatchObject({ sandbox: 'bubblewrap', model: 'tiny' })
    const used = log.entries.filter(({ capability }) => capability === 'model.used')
    expect(new Set(used.map(({ actor }) => actor))).toContain('user:editor')
    // Questions of people are their own affair.
    expect(JSON.stringify(used)).not.toContain('Who are you?')

    const doctor = await gate.cli(['doctor'])
    expect(doctor.stdout).toMatch(/ok {4}Local models: engine 3\.22\.1, 1 installed, tiny loaded/)
    expect(await gate.stop()).toBe(0)
    // The engine does not outlive the service.
    expect(() => process.kill(engine.pid ?? 0, 0)).toThrow('ESRCH')
  })

  test('ends with a service that is killed, and is there again for the next one', async () => {
    await using source = await ModelSource.open()
    await using gate = installationFor(source)
    await gate.start()
    await installTiny(gate)
    const { pid } = await gate.json<EngineState>(['models', 'start', 'tiny'])
    expect(pid).not.toBeNull()
    await gate.kill()
    await expect.poll(() => isAlive(pid)).toBe(false)
    const run = await gate.start()
    expect((await gate.cli(['models', 'try', 'tiny', 'hi'])).stdout).toContain(sentence)
    const token = readFileSync(join(gate.dataDir, 'cli-token'), 'utf8').trim()
    const answer = await fetch(`${run.user_api_url}/api/health`, {
      headers: { authorization: `Bearer ${token}` },
    })
    const { components } = (await answer.json()) as Health
    expect(components.models.status).toBe('healthy')
    expect((await gate.cli(['models', 'stop'])).stdout).toContain('The engine is stopped')
    expect(await gate.stop()).toBe(0)
  })
})

const isAlive = (pid: number | null): boolean => {
  try {
    process.kill(pid ?? 0, 0)
    return true
  } catch {
    return false
  }
}
