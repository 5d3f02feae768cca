import { serviceGroups } from '../../domain/service-groups.ts'
import type { GitFactory } from '../../ports/git.ts'
import type { Sandbox } from '../../ports/sandbox.ts'
import type { Secrets } from '../../ports/secrets.ts'
import type { StoredService } from '../../ports/services.ts'
import type { Storage } from '../../ports/storage.ts'
import type { Vault } from '../../ports/vault.ts'

type Deps = {
  readonly storage: Pick<Storage, 'services'>
  readonly sandbox: Pick<Sandbox, 'state'>
  readonly git: Pick<GitFactory, 'installed'>
  readonly secrets: Pick<Secrets, 'listFor'>
  readonly vault: Pick<Vault, 'list'>
  /** Whether an engine and a model are installed on this machine. */
  readonly runsModels: () => Promise<boolean>
  /** Tools of upstream servers that wait for a person. */
  readonly outOfService: () => readonly string[]
}

const sandboxGroups = ['git', 'process'] as const

/** Capabilities that are of use with secrets only. */
const secretUsers = ['secrets', 'network.credentialed_request'] as const

const serves = ({ status, agents }: StoredService, agent: string): boolean =>
  status !== 'disconnected' && (agents.includes('*') || agents.includes(agent))

/**
 * Capabilities that cannot work here: mail without a mailbox, git without a sandbox or the program. A listing leaves them out, since a
 * model pays for each tool that it reads. A call of it goes on to say what is missing.
 */
export class Availability {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Groups and single capabilities that have nothing to work with for this agent. */
  async lacking(agent: string): Promise<ReadonlySet<string>> {
    const { storage, git, secrets, runsModels } = this.#deps
    const services = (await storage.services.list()).filter((service) => serves(service, agent))
    const kinds = new Set(services.map(({ kind }) => kind))
    return new Set([
      ...serviceGroups.flatMap(([group, kind]) => (kinds.has(kind) ? [] : [group])),
      ...(this.#runsPrograms() ? [] : sandboxGroups),
      ...(git.installed() ? [] : ['git']),
      ...((await runsModels()) ? [] : ['inference']),
      ...((await secrets.listFor(agent)).length > 0 ? [] : secretUsers),
      ...this.#deps.outOfService(),
    ])
  }

  /** Changes whenever what some agent lacks may have changed. */
  async signature(): Promise<string> {
    const { storage, git, vault, runsModels } = this.#deps
    return JSON.stringify([
      (await storage.services.list()).map(({ name, kind, agents, status }) => [
        ...[name, kind, agents, status === 'disconnected'],
      ]),
      this.#runsPrograms(),
      git.installed(),
      await runsModels(),
      (await vault.list()).map(({ name, agents }) => [name, agents]),
      this.#deps.outOfService(),
    ])
  }

  /** A sandbox that was not tried yet may hold. */
  #runsPrograms(): boolean {
    const state = this.#deps.sandbox.state()
    return state.usable || state.untried === true
  }
}
