import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { GatehouseError } from '@gatehouse/contract'
import type { Outbound } from '../ports/outbound.ts'
import type { SandboxMount, SandboxResult } from '../ports/sandbox.ts'
import { type Credential, credentialSettings, withLoginOnDescriptor } from './credential.ts'
import { environmentOf, fixedArguments } from './environment.ts'
import { remoteRefused, saidBy } from './failure.ts'
import { PrivateFolder } from './private-folder.ts'
import { type RunnerDeps, runProgram } from './runner.ts'
import type { RemoteUrl } from './url.ts'

const networkMs = 540_000

export type TransferDeps = RunnerDeps & {
  readonly folder: string
  readonly outbound: Pick<Outbound, 'openEgress'>
  /** A file of the authorities that are trusted, made when first needed. */
  readonly authorities: () => string
  readonly scrub: <T>(value: T) => T
}

/** The objects of an agent's repository, to read from only. */
export type Lender = {
  readonly mount: SandboxMount
  /** Inside. */
  readonly objects: string
  readonly shallow: Buffer | null
}

type Step = {
  readonly args: readonly string[]
  readonly stdin?: Uint8Array
  readonly codes?: readonly number[]
}

/**
 * A repository of the service's own, which alone meets the network and the login. Nothing in it was written
 * by an agent but the objects it lends, and those are named by their hash.
 * @SECURITY What an agent sets in its repository, even during the call, meets neither; git-remote.test.ts.
 */
export class Transfer implements Disposable {
  readonly folder: PrivateFolder
  readonly gitDir: string
  readonly #deps: TransferDeps
  readonly #remote: RemoteUrl
  readonly #lender: Lender | null

  constructor(deps: TransferDeps, remote: RemoteUrl, lender: Lender | null = null) {
    this.#deps = deps
    this.#remote = remote
    this.#lender = lender
    this.folder = new PrivateFolder(deps.folder)
    this.gitDir = join(this.folder.path, 'transfer.git')
  }

  /** Makes the repository; only for work that needs one. */
  async begin(): Promise<void> {
    await this.#run({ args: ['init', '--quiet', '--bare', '--template=', this.gitDir] }, [])
    const shallow = this.#lender?.shallow
    if (shallow) writeFileSync(join(this.gitDir, 'shallow'), shallow)
  }

  /** Git on it, without a network. */
  local(step: Step): Promise<SandboxResult> {
    return this.#run(step, [`--git-dir=${this.gitDir}`])
  }

  /** Git with a way to the remote's host and to nothing else. Raises `RemoteRefused`. */
  async reach(step: Step, credential: Credential | null, outside = false): Promise<SandboxResult> {
    const { outbound, authorities } = this.#deps
    await using egress = await outbound.openEgress([this.#remote.target])
    const bundle = authorities()
    const args = [
      ...fixedArguments,
      '-c',
      `http.sslCAInfo=${bundle}`,
      '-c',
      'http.sslVerify=true',
      '-c',
      'http.followRedirects=false',
      '-c',
      'fetch.unpackLimit=1',
      ...(credential ? credentialSettings(this.#remote) : []),
      ...(outside ? [] : [`--git-dir=${this.gitDir}`]),
      ...step.args,
    ]
    const result = await runProgram(this.#deps, {
      ...(credential
        ? { program: 'sh', args: [...withLoginOnDescriptor, ...args], stdin: credential }
        : { args }),
      environment: this.#environment(),
      mounts: [...this.#mounts(), { source: bundle, target: bundle, writable: false }],
      workingDirectory: this.folder.path,
      network: { kind: 'egress', socket: egress.socket },
      timeoutMs: networkMs,
    })
    if (result.code !== null && (step.codes ?? [0]).includes(result.code)) return result
    const refused = egress.refused()[0]
    if (refused) throw new GatehouseError('HostUnreachable', { host: refused.host })
    const hide = [this.gitDir, this.folder.path]
    const said = this.#deps.scrub(saidBy(result.stderr, hide))
    throw remoteRefused(this.#remote.host, said)
  }

  /** The packs that were fetched, as paths. */
  packs(): readonly string[] {
    const folder = join(this.gitDir, 'objects/pack')
    return readdirSync(folder).map((name) => join(folder, name))
  }

  /** For another child: what was fetched, to read. */
  get mount(): SandboxMount {
    const { path } = this.folder
    return { source: path, target: path, writable: false }
  }

  async #run(step: Step, where: readonly string[]): Promise<SandboxResult> {
    const result = await runProgram(this.#deps, {
      args: [...fixedArguments, ...where, ...step.args],
      ...(step.stdin ? { stdin: step.stdin } : {}),
      environment: this.#environment(),
      mounts: this.#mounts(),
      workingDirectory: this.folder.path,
    })
    if (result.code !== null && (step.codes ?? [0]).includes(result.code)) return result
    throw new GatehouseError('GitFailed', { detail: saidBy(result.stderr, [this.gitDir]) })
  }

  #environment(): Readonly<Record<string, string>> {
    const lent = this.#lender ? { GIT_ALTERNATE_OBJECT_DIRECTORIES: this.#lender.objects } : {}
    const plain = this.#remote.isPlain ? { GIT_ALLOW_PROTOCOL: 'http' } : {}
    return { ...environmentOf(this.folder.path), ...plain, ...lent }
  }

  #mounts(): readonly SandboxMount[] {
    const own = { source: this.folder.path, target: this.folder.path, writable: true }
    return this.#lender ? [own, this.#lender.mount] : [own]
  }

  [Symbol.dispose](): void {
    this.folder[Symbol.dispose]()
  }
}
