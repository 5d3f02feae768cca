import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createCatalogSource } from '@gatehouse/server/inference/create-catalog-source'
import { createModelFiles } from '@gatehouse/server/inference/create-model-files'
import type { Sandbox, SandboxState } from '@gatehouse/server/ports/sandbox'
import { CountedIds } from '../counted-ids.ts'
import { fakeAdapter } from '../fake-service/fake-adapter.ts'
import { memoryLink } from '../fake-service/fake-link.ts'
import type { FakeServer } from '../fake-service/fake-server.ts'
import { createKit, type Kit, type KitOptions } from '../kit.ts'
import { noSandbox } from '../no-sandbox.ts'
import { makeQuickFolder } from '../quick-store.ts'
import { memoryOfRun, runFolder } from '../test-folders.ts'
import { createTestEngine, type EngineAnswers } from './engine.ts'
import { fill, type Tokens } from './fill.ts'
import { mailboxCapabilities } from './mailbox.ts'
import { createOutside } from './outside.ts'
import { createTestProcessHost } from './process-host.ts'
import {
  catalogUrl,
  createChangedServer,
  createMailServer,
  documents,
  policy,
  seedMs,
} from './seeds.ts'
import { createTestLogins, createTestUpstreams } from './upstream-host.ts'

/** A whole service in which there is one of everything. */
export type Installation = AsyncDisposable & {
  readonly kit: Kit
  readonly tokens: Tokens
  /** Folders of agents, wherever they lie this time. */
  readonly workspaces: string
}

export type InstallationOptions = Pick<KitOptions, 'capabilities' | 'ports' | 'settings'> & {
  readonly engine?: EngineAnswers
  /** State that the sandbox reports, in which nothing runs. */
  readonly sandbox?: SandboxState
}

const holds: SandboxState = { usable: true, backend: 'bubblewrap', detail: 'everything holds' }

const sandboxThat = (state: SandboxState): Sandbox => {
  const none = noSandbox()
  return {
    ...none,
    state: () => state,
    probe: async () => state,
    ready: async () => (state.usable ? undefined : none.ready()),
  }
}

const partsOf = (server: FakeServer, options: InstallationOptions): Partial<KitOptions> => {
  const adapter = fakeAdapter(memoryLink(server), { kind: 'mail' })
  const outbound = createOutside(documents)
  return {
    policy,
    outbound,
    adapters: new Map([[adapter.kind, adapter]]),
    sandbox: sandboxThat(options.sandbox ?? holds),
    notifier: {
      targets: [
        {
          name: 'phone',
          kind: 'webhook',
          origin: 'https://phone.example',
          events: ['approval.pending'],
          hasSecret: false,
        },
      ],
      send: async () => ({ kind: 'delivered', status: 200 }),
    },
    settings: { 'catalog.url': catalogUrl, ...options.settings },
    ...(options.ports ? { ports: options.ports } : {}),
    capabilities: [...mailboxCapabilities, ...(options.capabilities ?? [])],
    parts: ({ upstreams }, folder) => ({
      upstreams: {
        ...upstreams,
        host: createTestUpstreams(upstreams.host),
        logins: createTestLogins(),
      },
      version: '1.2.3',
      processHost: createTestProcessHost(),
      engine: createTestEngine(options.engine),
      models: {
        files: {
          ...createModelFiles({ folder: join(folder, 'models'), outbound, mirrors: new Map() }),
          availableMemory: async () => 8_000_000_000,
        },
        source: createCatalogSource({
          url: catalogUrl,
          file: join(folder, 'models', 'catalog.json'),
          outbound,
        }),
      },
    }),
  }
}

type Template = {
  readonly folder: string
  /** One folder for all installations of a process, because what is stored names it. */
  readonly workspaces: string
  /** Files that lie in it at first. */
  readonly files: string
  readonly ids: CountedIds
  readonly tokens: Tokens
}

const fillOnce = async (options: KitOptions): Promise<Tokens> => {
  await using kit = await createKit(options)
  return await fill(kit)
}

/** Done once by each process: what takes time lies on a disk in memory from then on. */
const makeTemplate = async (): Promise<Template> => {
  const { path: folder } = makeQuickFolder(memoryOfRun())
  const { path: files } = makeQuickFolder(memoryOfRun())
  const workspaces = mkdtempSync(join(runFolder(), 'gatehouse-workspaces-'))
  const ids = new CountedIds()
  const server = createMailServer()
  // The connection breaks when something is sent: whether it arrived cannot be told.
  server.fault = ({ kind }) => (kind === 'send' ? 'drop' : null)
  const tokens = await fillOnce({
    ...partsOf(server, {}),
    ids,
    workspaces,
    leaves: folder,
    nowMs: seedMs - 60_000,
  })
  cpSync(workspaces, files, { recursive: true })
  return { folder, workspaces, files, ids, tokens }
}

let template: Promise<Template> | null = null

/** A folder at rest is there already, as if no other had been; the program and the engine are started anew. */
export const openInstallation = async (
  options: InstallationOptions = {},
): Promise<Installation> => {
  template ??= makeTemplate()
  const { folder, workspaces, files, ids, tokens } = await template
  rmSync(workspaces, { recursive: true })
  cpSync(files, workspaces, { recursive: true })
  const kit = await createKit({
    ...partsOf(createChangedServer(), options),
    ids: new CountedIds([], ids),
    begins: folder,
    workspaces,
    nowMs: seedMs,
  })
  await kit.authenticate(tokens.mailbot)
  await kit.run('mailbot', 'process.run', {
    command: 'python3',
    args: ['server.py', '--port', '8080'],
    background: true,
  })
  await kit.app.startEngine(kit.operator(), { model: 'tiny' })
  return {
    kit,
    tokens,
    workspaces,
    [Symbol.asyncDispose]: () => kit[Symbol.asyncDispose](),
  }
}
