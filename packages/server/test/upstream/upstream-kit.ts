import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { AddUpstream, UpstreamReview } from '@gatehouse/contract'
import { createKit, type Kit, type KitOptions } from '@gatehouse/testkit'

/** The folder whose packages the official servers are installed in. */
export const packages = realpathSync(
  fileURLToPath(new URL('../../../../node_modules', import.meta.url)),
)
const program = realpathSync(fileURLToPath(new URL('scripted-server.mjs', import.meta.url)))

export type Script = {
  readonly name?: string
  readonly says?: string
  readonly tools: readonly object[]
  readonly misbehave?: Readonly<Record<string, string>>
  readonly change?: boolean
  /** Level, data and logger of each message that its tool `log` writes. */
  readonly logs?: readonly (readonly unknown[])[]
}

const texts = { type: 'object', properties: { text: { type: 'string' }, path: { type: 'string' } } }

export const tool = (name: string, facts: object = {}): object => ({
  name,
  description: `Does ${name}.`,
  inputSchema: texts,
  ...facts,
})

/** A service with a real sandbox, and a server behind it that does what the test says. */
export class UpstreamKit implements AsyncDisposable {
  readonly kit: Kit
  readonly folder: string
  readonly script: string
  readonly notes: string

  private constructor(kit: Kit, folder: string) {
    this.kit = kit
    this.folder = folder
    this.script = join(folder, 'given', 'script.json')
    this.notes = join(folder, 'written', 'notes.txt')
  }

  /** Without programs it runs where no sandbox is. */
  static async open({
    programs = true,
    ...options
  }: KitOptions & { readonly programs?: boolean } = {}): Promise<UpstreamKit> {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'gatehouse-upstream-')))
    mkdirSync(join(folder, 'given'))
    mkdirSync(join(folder, 'written'))
    chmodSync(folder, 0o755)
    // Programs run as a user of their own where the service is root.
    chmodSync(join(folder, 'written'), 0o777)
    const kit = await createKit({ ...(programs ? { sandbox: 'real' } : {}), ...options })
    await kit.agent('alpha')
    return new UpstreamKit(kit, folder)
  }

  /** Lets every agent call what the server has without asking. */
  async allow(group = 'scripted'): Promise<void> {
    const text = `version: 1\nrules:\n  - {match: ${group}.*, tier: autonomous}\n`
    const { problems } = await this.kit.parts.policy.save({ text })
    if (problems.length > 0) throw new Error(problems.map(({ message }) => message).join('\n'))
  }

  says(script: Script): void {
    writeFileSync(this.script, JSON.stringify(script))
  }

  notedLines(): readonly string[] {
    return readFileSync(this.notes, 'utf8').trim().split('\n')
  }

  order(change: Partial<AddUpstream> = {}): AddUpstream {
    return {
      name: 'scripted',
      server: {
        kind: 'stdio',
        command: process.execPath,
        args: [program, this.script, this.notes],
      },
      grants: {
        folders: [
          { path: join(program, '..'), read_only: true },
          { path: join(this.folder, 'given'), read_only: true },
          { path: join(this.folder, 'written'), read_only: false },
        ],
        hosts: [],
        environment: {},
      },
      credentials: {},
      per_agent: true,
      dry_run: false,
      ...change,
    }
  }

  add(change: Partial<AddUpstream> = {}): Promise<UpstreamReview> {
    return this.kit.app.addUpstream(this.kit.operator(), this.order(change))
  }

  show(name = 'scripted'): Promise<UpstreamReview> {
    return this.kit.app.showUpstream(this.kit.operator(), { name })
  }

  async accept(tools?: readonly string[], name = 'scripted'): Promise<UpstreamReview> {
    const { digest } = await this.show(name)
    const chosen = tools ? { tools: [...tools] } : {}
    return this.kit.app.acceptUpstream(this.kit.operator(), { name, digest, ...chosen })
  }

  /** An official server of the installed packages. */
  official(name: string, args: readonly string[] = []): Partial<AddUpstream> {
    return {
      name,
      server: {
        kind: 'stdio',
        command: process.execPath,
        args: [join(packages, `@modelcontextprotocol/server-${name}/dist/index.js`), ...args],
      },
      grants: { folders: [{ path: packages, read_only: true }], hosts: [], environment: {} },
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kit[Symbol.asyncDispose]()
    rmSync(this.folder, { recursive: true, force: true })
  }
}

export const stateOf = ({ tools }: UpstreamReview, name: string) =>
  tools.find(({ tool: found }) => found === name)?.state
