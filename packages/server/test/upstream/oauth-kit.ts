import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { UpstreamReview } from '@gatehouse/contract'
import { createKit, type Kit, type KitOptions } from '@gatehouse/testkit'
import { outboundWith } from '../../src/outbound/testing.ts'
import { type Bent, OauthServers } from './oauth-server.ts'

export const redirectUrl = 'http://127.0.0.1:4711/callback'

/** A service that reaches an MCP server behind a login. */
export class OauthKit implements AsyncDisposable {
  readonly servers: OauthServers
  kit: Kit
  /** Lines of the service's own log. */
  readonly lines: string[]

  readonly #options: KitOptions
  readonly #left: string
  readonly #token: string

  private constructor(
    made: Pick<OauthKit, 'servers' | 'kit' | 'lines'> & {
      readonly options: KitOptions
      readonly left: string
      readonly token: string
    },
  ) {
    this.servers = made.servers
    this.kit = made.kit
    this.lines = made.lines
    this.#options = made.options
    this.#left = made.left
    this.#token = made.token
  }

  static async open(bent: Bent = {}, options: KitOptions = {}): Promise<OauthKit> {
    const servers = await OauthServers.open(bent)
    const lines: string[] = []
    const note = (...given: unknown[]) => void lines.push(JSON.stringify(given, withErrors))
    const log = { debug: note, info: note, warn: note, error: note }
    const outbound = outboundWith({ privateTargets: servers.targets })
    const left = mkdtempSync(join(tmpdir(), 'gatehouse-oauth-'))
    const all = { outbound, log, leaves: left, ...options }
    const kit = await createKit(all)
    const token = await kit.agent('alpha')
    return new OauthKit({ servers, kit, lines, left, token, options: all })
  }

  add(change: object = {}): Promise<UpstreamReview> {
    return this.kit.app.addUpstream(this.kit.operator(), {
      name: 'tickets',
      server: { kind: 'http', url: this.servers.mcp },
      grants: { folders: [], hosts: [], environment: {} },
      credentials: {},
      per_agent: true,
      dry_run: false,
      ...change,
    })
  }

  begin(more: object = {}) {
    const order = { name: 'tickets', redirect_url: redirectUrl, ...more }
    return this.kit.app.loginUpstream(this.kit.operator(), order)
  }

  finish(redirected: string): Promise<UpstreamReview> {
    return this.kit.app.finishUpstreamLogin(this.kit.operator(), { name: 'tickets', redirected })
  }

  async logIn(more: object = {}): Promise<UpstreamReview> {
    const { address } = await this.begin(more)
    return await this.finish(await this.servers.browse(address))
  }

  /** Added, logged in, accepted, and every agent may call it. */
  async ready(): Promise<void> {
    await this.add()
    const { digest } = await this.logIn()
    await this.kit.app.acceptUpstream(this.kit.operator(), { name: 'tickets', digest })
    await this.kit.parts.policy.save({
      text: 'version: 1\nrules:\n  - {match: tickets.*, tier: autonomous}\n',
    })
  }

  async show() {
    const { upstream } = await this.kit.app.showUpstream(this.kit.operator(), { name: 'tickets' })
    return upstream
  }

  call(tool = 'list', agent = 'alpha') {
    return this.kit.invoke(agent, `tickets.${tool}`)
  }

  /** Names of secrets of the login that are in the vault. */
  async keptSecrets(): Promise<readonly string[]> {
    const all = await this.kit.storage.secrets.list()
    return all.map(({ name }) => name).filter((name) => name.includes('upstream.tickets'))
  }

  /** Another process takes over the same data. */
  async restart(): Promise<void> {
    const { ms } = this.kit.clock
    await this.kit[Symbol.asyncDispose]()
    this.kit = await createKit({ ...this.#options, begins: this.#left, nowMs: ms })
    await this.kit.authenticate(this.#token)
  }

  /** Everything that anybody could read: the whole audit log, the service's log, what was answered. */
  async readable(...answers: readonly unknown[]): Promise<string> {
    return [JSON.stringify(await this.kit.audit()), ...this.lines, JSON.stringify(answers)].join(
      '\n',
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kit[Symbol.asyncDispose]()
    await this.servers[Symbol.asyncDispose]()
    rmSync(this.#left, { recursive: true, force: true })
  }
}

const withErrors = (_key: string, value: unknown): unknown =>
  value instanceof Error
    ? { facts: Object.entries(value), text: String(value), stack: value.stack, cause: value.cause }
    : value
