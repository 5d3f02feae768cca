import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Model, ModelJob } from '@gatehouse/contract'
import type { ModelParts } from '@gatehouse/server/app/models/models'
import { createKit, type Kit, type KitOptions } from '@gatehouse/testkit'
import { until } from '@gatehouse/testkit/until'
import { createCatalogSource } from '../../src/inference/create-catalog-source.ts'
import { createModelFiles } from '../../src/inference/create-model-files.ts'
import { outboundWith } from '../../src/outbound/testing.ts'
import { ModelSource, sha256Of } from './model-source.ts'

type Options = {
  readonly catalogUrl?: string | null
  /** Other addresses that may be reached. */
  readonly targets?: readonly string[]
  readonly mirrors?: ReadonlyMap<string, string>
  readonly change?: (parts: ModelParts) => ModelParts
  /** Of another service that has ended: what it left is there. */
  readonly folder?: string
  readonly catalogTimeoutMs?: number
  /** For sources that say nothing: all others have as long as the busiest machine takes. */
  readonly stallMs?: number
  /** Engine for the models, and its sandbox. */
  readonly kit?: Pick<KitOptions, 'engine' | 'sandbox' | 'settings'>
}

/** A service whose models come from a source of the test's own. */
export class ModelKit implements AsyncDisposable {
  readonly kit: Kit
  readonly source: ModelSource
  readonly folder: string

  constructor(kit: Kit, source: ModelSource, folder: string) {
    this.kit = kit
    this.source = source
    this.folder = folder
  }

  get op() {
    return this.kit.operator()
  }

  models(): ReturnType<Kit['app']['listModels']> {
    return this.kit.app.listModels(this.op)
  }

  show(id: string): Promise<Model> {
    return this.kit.app.showModel(this.op, { id })
  }

  install(id: string): Promise<ModelJob> {
    return this.kit.app.installModel(this.op, { id })
  }

  /** Waits until the job is as wanted; the service's clock runs on meanwhile, so that retries come. */
  until(job_id: string, isThere: (job: ModelJob) => boolean): Promise<ModelJob> {
    return until(async () => {
      const job = await this.kit.app.showModelJob(this.op, { job_id })
      if (isThere(job)) return job
      await new Promise((resolve) => setTimeout(resolve, 5))
      if (job.status === 'waiting') this.kit.clock.move(1_000)
      return null
    })
  }

  async installed(id: string): Promise<ModelJob> {
    const { id: job_id } = await this.install(id)
    return this.until(job_id, ({ status }) => status !== 'waiting' && status !== 'running')
  }

  /** Files where an engine looks: name and hash of each. */
  offered(): { readonly name: string; readonly sha256: string; readonly mode: number }[] {
    return namesIn(this.folder)
      .filter((name) => name.endsWith('.gguf'))
      .map((name) => ({
        name,
        sha256: sha256Of(readFileSync(join(this.folder, name))),
        mode: statSync(join(this.folder, name)).mode & 0o777,
      }))
  }

  /** Changes an installed file, as nobody should. */
  overwrite(name: string, bytes: Uint8Array): void {
    const file = join(this.folder, name)
    chmodSync(file, 0o600)
    writeFileSync(file, bytes)
  }

  aside(): string[] {
    return namesIn(join(this.folder, 'unfinished'))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kit[Symbol.asyncDispose]()
    rmSync(this.folder, { recursive: true, force: true })
  }
}

const namesIn = (folder: string): string[] => {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** The catalog is at `/models.json` of the source unless said. */
export async function openModelKit(source: ModelSource, options: Options = {}): Promise<ModelKit> {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'gatehouse-models-'))
  const outbound = outboundWith({
    privateTargets: [source.target, ...(options.targets ?? [])],
    caFile: source.caFile,
  })
  const { catalogUrl = source.url('/models.json'), mirrors = new Map<string, string>() } = options
  const stall = options.stallMs === undefined ? {} : { stallMs: options.stallMs }
  const parts: ModelParts = {
    files: createModelFiles({ folder, outbound, mirrors, ...stall }),
    source: createCatalogSource({
      url: catalogUrl,
      file: join(folder, 'catalog.json'),
      outbound,
      timeoutMs: options.catalogTimeoutMs ?? 60_000,
    }),
  }
  const kit = await createKit({ ...options.kit, models: options.change?.(parts) ?? parts })
  return new ModelKit(kit, source, folder)
}
