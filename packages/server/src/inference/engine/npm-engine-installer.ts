import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'
import { type EnginePackage, GatehouseError } from '@gatehouse/contract'
import type { EngineInstaller } from '../../ports/engine.ts'
import { findNpm, type Npm, npmInstall } from './npm-install.ts'

type Lock = {
  readonly version: string
  /** By platform, the hash of the package with its binary. */
  readonly platforms: Readonly<Record<string, string>>
  readonly packages: Readonly<Record<string, object>>
}

export type EngineInstallerOptions = {
  readonly folder: string
  /** The pinned packages, as a file. */
  readonly lockFile: string
  /** Environment variables that npm inherits. */
  readonly environment: Readonly<Record<string, string>>
  readonly npm?: Npm | null
  readonly platform?: string
  /** Null where the C library of this system is another. */
  readonly glibc?: string | null
}

const staging = '.setup-'
const marker = 'complete.json'

const readGlibc = (): string | null => {
  // Without this it looks up the names of all that the process is connected to.
  Object.assign(process.report, { excludeNetwork: true })
  const { header } = process.report.getReport() as { header?: { glibcVersionRuntime?: string } }
  return header?.glibcVersionRuntime ?? null
}

let glibc: string | null | undefined

/** The version of glibc that Node runs with; null for musl and the like. Read once: a report takes milliseconds. */
const glibcOf = (): string | null => {
  if (glibc === undefined) glibc = readGlibc()
  return glibc
}

/** Readable for whoever runs it, whatever the umask was; a link is left as it is. */
async function open(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) await open(path)
    else if (entry.isFile()) await chmod(path, (await stat(path)).mode | 0o444)
  }
  await chmod(folder, 0o755)
}

const manifestsOf = ({ version, platforms, packages }: Lock, platform: string) => {
  const binary = `@node-llama-cpp/${platform}`
  const dependencies = { 'node-llama-cpp': version, [binary]: version }
  const own = { name: 'gatehouse-engine', version: '1.0.0', dependencies }
  return {
    'package.json': { ...own, private: true },
    'package-lock.json': {
      name: own.name,
      version: own.version,
      lockfileVersion: 3,
      requires: true,
      packages: {
        '': own,
        ...packages,
        [`node_modules/${binary}`]: { version, integrity: platforms[platform] },
      },
    },
  }
}

/** node-llama-cpp with the one binary of this platform, in a folder named after its version. */
export class NpmEngineInstaller implements EngineInstaller {
  readonly #options: EngineInstallerOptions
  #lock: Promise<Lock> | null = null
  #glibc: string | null | undefined

  constructor(options: EngineInstallerOptions) {
    this.#options = options
    this.#glibc = options.glibc
  }

  async state(): Promise<EnginePackage> {
    const { version } = await this.#pinned()
    const lack = await this.#lack()
    if (lack) return { installed: false, version, ...lack }
    const installed = await this.#isComplete()
    return {
      installed,
      version,
      problem: installed ? null : 'it is not installed',
      remedy: installed ? null : 'gatehouse models setup',
    }
  }

  /** Where the packages of this version are, or will be. */
  async place(): Promise<string> {
    return join(this.#options.folder, (await this.#pinned()).version)
  }

  async install(report: (done: number, total: number) => void, signal: AbortSignal): Promise<void> {
    const { folder, environment, platform = defaultPlatform } = this.#options
    const lack = await this.#lack()
    if (lack) throw failed(lack.problem, lack.remedy)
    const npm = await this.#npm()
    if (!npm)
      throw failed('npm is not found', 'install npm (it comes with Node), and have it on the PATH')
    const lock = await this.#pinned()
    const total = Object.keys(lock.packages).length + 1
    await mkdir(folder, { recursive: true, mode: 0o755 })
    // Remains of an installation that was killed.
    for (const name of await readdir(folder))
      if (name.startsWith(staging)) await rm(join(folder, name), { recursive: true, force: true })
    const made = await mkdtemp(join(folder, staging))
    try {
      for (const [name, content] of Object.entries(manifestsOf(lock, platform)))
        await writeFile(join(made, name), JSON.stringify(content, null, 2))
      report(0, total)
      await npmInstall(
        npm,
        made,
        environment,
        (done) => report(Math.min(done, total), total),
        signal,
      )
      await this.#assertWhole(made, lock.version, platform)
      await open(made)
      const facts = { version: lock.version, platform }
      await writeFile(join(made, marker), JSON.stringify(facts))
      const place = await this.place()
      await rm(place, { recursive: true, force: true })
      await rename(made, place)
      // Of earlier versions of this service.
      for (const name of await readdir(folder))
        if (/^\d+\.\d+\.\d+$/.test(name) && name !== lock.version)
          await rm(join(folder, name), { recursive: true, force: true })
      report(total, total)
    } catch (cause) {
      await rm(made, { recursive: true, force: true })
      throw cause
    }
  }

  async #assertWhole(made: string, version: string, platform: string): Promise<void> {
    const modules = join(made, 'node_modules')
    for (const name of ['node-llama-cpp', `@node-llama-cpp/${platform}`]) {
      const text = await readFile(join(modules, name, 'package.json'), 'utf8').catch(() => '{}')
      const found = (JSON.parse(text) as { version?: string }).version
      if (found !== version) throw failed(`npm brought ${name} ${found ?? 'not at all'}`, null)
    }
  }

  async #isComplete(): Promise<boolean> {
    const { platform = defaultPlatform } = this.#options
    const text = await readFile(join(await this.place(), marker), 'utf8').catch(() => null)
    if (text === null) return false
    const { version } = await this.#pinned()
    return text === JSON.stringify({ version, platform })
  }

  /** Obstacle of this machine that keeps the engine from running at all. */
  async #lack(): Promise<{ readonly problem: string; readonly remedy: string } | null> {
    const { platform = defaultPlatform } = this.#options
    const { platforms } = await this.#pinned()
    if (platforms[platform] === undefined)
      return {
        problem: `there is no engine for ${platform}`,
        remedy: 'Run the service on Linux (x86-64 or ARM64), in a virtual machine if need be.',
      }
    if (this.#glibc === undefined) this.#glibc = glibcOf()
    return this.#glibc === null
      ? {
          problem: 'this system has another C library than glibc, which the engine is built for',
          remedy: 'Run the service on a system with glibc, such as Debian, Ubuntu or Fedora.',
        }
      : null
  }

  async #npm(): Promise<Npm | null> {
    const { npm, environment } = this.#options
    return npm === undefined ? findNpm(environment['PATH'] ?? '') : npm
  }

  #pinned(): Promise<Lock> {
    this.#lock ??= readFile(this.#options.lockFile, 'utf8').then((text) => JSON.parse(text) as Lock)
    return this.#lock
  }
}

const defaultPlatform = `${process.platform}-${process.arch}`

const failed = (detail: string, remedy: string | null): GatehouseError =>
  new GatehouseError(
    'EngineSetupFailed',
    { detail },
    remedy === null ? {} : { recovery: [{ action: 'prepare the machine', description: remedy }] },
  )
