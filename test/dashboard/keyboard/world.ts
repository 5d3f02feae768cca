import { chmodSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RouteName } from '@gatehouse/contract/routes'
import type { Client } from '@gatehouse/rest-client'
import { scriptModel } from '@gatehouse/testkit'
import { Dovecot } from '@gatehouse/testkit/mail-server/dovecot'
import { SmtpReceiver } from '@gatehouse/testkit/mail-server/smtp-receiver'
import { entryOf, ModelSource } from '../../../packages/server/test/models/model-source.ts'
import { OauthServers } from '../../../packages/server/test/upstream/oauth-server.ts'
import { Dashboard } from '../../support/dashboard.ts'
import { Keyboard } from '../../support/keyboard.ts'
import { invoke } from '../../support/server.ts'

/** One action: how keys lead to it, and what is then true of the service. */
export type Action = {
  readonly does: RouteName
  /** Where keys begin; null for where the action before has led. */
  readonly at: string | null
  /** Made ready by the API, not by a person. */
  readonly first?: () => Promise<unknown>
  readonly by: (keys: Keyboard) => Promise<unknown>
  readonly holds: (api: Client) => Promise<boolean>
}

const letter = (subject: string) =>
  `From: ben@example.net\r\nSubject: ${subject}\r\nMessage-ID: <${subject}@example.net>\r\n\r\nHello.\r\n`

const policy = 'version: 1\nrules:\n  - { match: "email.*", tier: autonomous }\n'

const question = {
  message: 'Where to?',
  requestedSchema: { type: 'object', properties: { branch: { type: 'string', title: 'Branch' } } },
}

/** A service with what its pages act on: an agent, a mailbox, MCP servers, a catalog of models, a notification target. */
export class World implements AsyncDisposable {
  readonly dashboard: Dashboard
  readonly keys: Keyboard
  readonly mail: Dovecot
  readonly smtp: SmtpReceiver
  readonly models: ModelSource
  readonly oauth: OauthServers
  readonly folder: string
  readonly model: Uint8Array
  /** Of the agent `mailbot`. */
  token = ''

  private constructor(
    parts: Pick<World, 'dashboard' | 'mail' | 'smtp' | 'models' | 'oauth' | 'folder' | 'model'>,
  ) {
    this.dashboard = parts.dashboard
    this.mail = parts.mail
    this.smtp = parts.smtp
    this.models = parts.models
    this.oauth = parts.oauth
    this.folder = parts.folder
    this.model = parts.model
    this.keys = new Keyboard(parts.dashboard.page)
  }

  static async open(): Promise<World> {
    const mail = await Dovecot.start()
    const smtp = await SmtpReceiver.open({
      users: { [mail.user]: mail.password },
      unknown: ['gone@example.net'],
    })
    for (const subject of ['first', 'second', 'third']) mail.maildir().put('INBOX', letter(subject))
    const models = await ModelSource.open()
    const oauth = await OauthServers.open()
    const model = scriptModel({ mode: 'random', type: 'F32', dim: 256, ffn: 512, layers: 1 })
    models.json('/models.json', {
      schema_version: 1,
      models: [entryOf('tiny-test', models.url('/tiny.gguf'), model)],
    })
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'gatehouse-keys-')))
    // The sandbox of a service that is root runs servers as another user.
    chmodSync(folder, 0o755)
    const targets = [models.target, ...oauth.targets].map((one) => JSON.stringify(one)).join(', ')
    const dashboard = await Dashboard.open(
      ['--proxy-delays', 'mail.send=1h,mail.move=0s,mail.forward=0s'],
      (dataDir) =>
        writeFileSync(
          join(dataDir, 'gatehouse.yaml'),
          `catalog: { url: "${models.url('/models.json')}" }
outbound: { private_targets: [${targets}], ca_file: "${models.caFile}" }
notifications:
  - { name: phone, kind: webhook, url: "https://127.0.0.1:9/", events: [alert.raised] }
`,
        ),
    )
    const world = new World({ dashboard, mail, smtp, models, oauth, folder, model })
    world.token = (await dashboard.api.createAgent({ name: 'mailbot' })).token
    await dashboard.api.saveOrganisationPolicy({ text: policy })
    world.say()
    return world
  }

  /** What the MCP server in the folder says from now on. */
  say(): void {
    const inputSchema = { type: 'object', properties: { text: { type: 'string' } } }
    const tools = [
      { name: 'say', description: 'Says the text', inputSchema },
      { name: 'ask', description: 'Asks first', inputSchema },
      { name: 'sing', description: 'Sings the text', inputSchema },
    ]
    writeFileSync(join(this.folder, 'script.json'), JSON.stringify({ tools, ask: question }))
  }

  get api(): Client {
    return this.dashboard.api
  }

  call(capability: string, args: object) {
    return invoke(this.dashboard.run, this.token, capability, args)
  }

  /** A request that waits for a person. */
  async ask(path: string): Promise<string> {
    await this.call('filesystem.write', { path, content: 'kept' })
    const held = await this.call('filesystem.delete', { path })
    return String(held.error?.data?.['approval_id'])
  }

  /** A move of a mail, which runs at once. */
  async move(subject: string): Promise<string> {
    const args = { message_ids: [await this.#mailOf(subject)], folder: 'Archive' }
    return this.write('email.move', args)
  }

  /** A mail that is passed on at once, to somebody whom the receiver does not know: it fails. */
  async forward(subject: string): Promise<string> {
    const args = { message_id: await this.#mailOf(subject), to: ['gone@example.net'] }
    return this.write('email.forward', args)
  }

  async #mailOf(subject: string): Promise<string> {
    const searched = await this.call('email.search', { query: subject })
    const [found] = (searched.result?.data?.['messages'] ?? []) as { message_id: string }[]
    if (!found) throw new Error(`no mail “${subject}” is found: ${JSON.stringify(searched)}`)
    return found.message_id
  }

  /** A write that is taken; its id. */
  async write(capability: string, args: object): Promise<string> {
    const answer = await this.call(capability, args)
    const id = answer.result?.data?.['write_id']
    if (typeof id !== 'string') throw new Error(`${capability}: ${JSON.stringify(answer)}`)
    return id
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.dashboard[Symbol.asyncDispose]()
    await this.smtp[Symbol.asyncDispose]()
    await this.mail[Symbol.asyncDispose]()
    await this.models[Symbol.asyncDispose]()
    await this.oauth[Symbol.asyncDispose]()
    rmSync(this.folder, { recursive: true, force: true })
  }
}

export const agentOf = (world: World, name: string) => world.api.showAgent({ name })
