import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { scriptModel } from '@gatehouse/testkit'
import { hasEngine } from '@gatehouse/testkit/programs'
import { describe, expect, test } from 'vitest'
import type { Engine } from '../../src/ports/engine.ts'
import type { InstalledModel } from '../../src/ports/models.ts'
import { SandboxKit } from '../integration/sandbox-kit.ts'
import { testEngineHost } from './kit.ts'

const MiB = 1024 * 1024
const task = { kind: 'complete', prompt: 'x', max_tokens: 1, temperature: 0, stop: [] } as const

const listening = (where: string | number): Promise<Server & { seen: number }> =>
  new Promise((resolve) => {
    const server = Object.assign(createServer(), { seen: 0 })
    server.on('connection', (socket) => {
      server.seen += 1
      socket.destroy()
    })
    if (typeof where === 'string') server.listen(where, () => resolve(server))
    else server.listen(where, '127.0.0.1', () => resolve(server))
  })

type Probed = {
  readonly kit: SandboxKit
  readonly engine: Engine
  readonly report: Record<string, never>
  readonly tcp: { seen: number }
  readonly socket: { seen: number }
  readonly canaries: readonly string[]
}

/** Runs the probe as the engine of a service that has secrets, state, workspaces and a second model. */
async function probe(act: string, check: (probed: Probed) => Promise<void>): Promise<void> {
  await using kit = new SandboxKit()
  const folder = join(kit.dataDir, 'models')
  mkdirSync(folder, { mode: 0o700 })
  const own = join(folder, 'own.gguf')
  writeFileSync(own, scriptModel(), { mode: 0o444 })
  const canaries = ['vault.key', 'gatehouse.db', 'cli-token', 'models/other.gguf'].map((name) =>
    join(kit.dataDir, name),
  )
  canaries.push(join(kit.workspace, 'notes.txt'), join(kit.outside, 'mine.txt'))
  for (const path of canaries) writeFileSync(path, 'canary')
  const foreignSocket = join(kit.outside, 'foreign.sock')
  const [tcp, socket] = [await listening(0), await listening(foreignSocket)]
  const tools = join(kit.outside, 'tools')
  mkdirSync(tools)
  copyFileSync(new URL('./probe.mjs', import.meta.url), join(tools, 'probe.mjs'))
  const { port } = tcp.address() as { port: number }
  const seek = [...canaries, kit.dataDir, folder, '/home', '/root']
  const order = { seek, port, foreignSocket, act }
  writeFileSync(join(tools, 'probe.json'), JSON.stringify(order))
  const host = testEngineHost(kit.sandbox, kit.dataDir, { worker: join(tools, 'probe.mjs') })
  const model = { id: 'own', label: null, file: own, size_bytes: 1 } as InstalledModel
  const signal = new AbortController().signal
  const engine = await host.start({ model, context_tokens: 16, memory_bytes: 512 * MiB }, signal)
  try {
    const runs = join(kit.dataDir, 'engine-runs')
    const [run = ''] = readdirSync(runs)
    const report = JSON.parse(readFileSync(join(runs, run, 'report.json'), 'utf8'))
    await check({ kit, engine, report, tcp, socket, canaries })
  } finally {
    await engine.kill()
    tcp.close()
    socket.close()
  }
}

describe.skipIf(!hasEngine())('what runs models', () => {
  test('sees one model and itself: no vault, no state, no other file, no network, no program', () =>
    probe('nothing', async ({ report, tcp, socket, engine }) => {
      expect(engine.backend).toBe('bubblewrap')
      const seen = Object.values(report['seen'] ?? {})
      expect(new Set(seen)).toEqual(new Set(['ENOENT']))
      expect(report['opt']).toEqual(['engine', 'model.gguf', 'node', 'worker'])
      expect(report['root']).not.toContain('home')
      expect(report['etc']).not.toContain('shadow')
      expect(report['environment']).toEqual(['GATEHOUSE_ENGINE', 'HOME', 'LANG', 'PATH', 'TMPDIR'])
      expect(new Set(Object.values(report['wrote'] ?? {}))).toEqual(new Set(['EROFS']))
      expect(report).toMatchObject({ shell: 'ENOENT', socket: 'ENOENT' })
      expect(report['tcp']).toMatch(/^(EAFNOSUPPORT|EPERM|EACCES)$/)
      expect([tcp.seen, socket.seen]).toEqual([0, 0])
      expect(report['processes']).toBeLessThanOrEqual(2)
      expect(report['model']).toBe(scriptModel().length)
      expect(report['status']).toMatchObject({
        CapEff: '0000000000000000',
        CapBnd: '0000000000000000',
        NoNewPrivs: '1',
        Seccomp: '2',
      })
      expect(report['status']?.['Uid']).toMatch(/^65534\t/)
    }))

  test('has no way to let the service speak to a socket of the host', () =>
    probe('link', async ({ engine, socket }) => {
      expect(await engine.becomesIdle(500)).toBe(false)
      await expect(
        engine.generate(task, () => {}, new AbortController().signal),
      ).rejects.toMatchObject({ type: 'EngineFailed' })
      expect(socket.seen).toBe(0)
    }))

  test('ends when it takes more memory than its model needs', () =>
    probe('hog', async ({ engine }) => {
      await expect(
        engine.generate(task, () => {}, new AbortController().signal),
      ).rejects.toMatchObject({ type: 'EngineFailed' })
      expect((await engine.exited).how).toMatch(/^(code|signal) /)
    }))

  test.for(['landlock', 'unconfined'] as const)(
    'runs by %s where an operator chose that, and says so',
    async (mode, { skip }) => {
      await using kit = new SandboxKit({ mode })
      // Older kernels have no such Landlock.
      if (!(await kit.sandbox.probe()).usable) skip(`${mode} does not hold here`)
      mkdirSync(join(kit.dataDir, 'models'), { mode: 0o700 })
      const own = join(kit.dataDir, 'models', 'own.gguf')
      writeFileSync(own, scriptModel(), { mode: 0o444 })
      const model = { id: 'own', label: null, file: own, size_bytes: 1 } as InstalledModel
      const signal = new AbortController().signal
      const engine = await testEngineHost(kit.sandbox, kit.dataDir).start(
        { model, context_tokens: 256, memory_bytes: 512 * MiB },
        signal,
      )
      expect(engine.backend).toBe(mode)
      const said = await engine.generate({ ...task, max_tokens: 9 }, () => {}, signal)
      expect(said.text).toBe('Hello from the local model.')
      await engine.kill()
      expect(readdirSync(join(kit.dataDir, 'engine-runs'))).toEqual([])
    },
  )

  test('is not listened to without end', () =>
    probe('flood', async ({ engine }) => {
      await expect(
        engine.generate(task, () => {}, new AbortController().signal),
      ).rejects.toMatchObject({ type: 'EngineFailed' })
    }))
})
